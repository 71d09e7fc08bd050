"""The models that a fit can stand on: how rows are made of a motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.compressed import compress, Compressed
from dynid_ros.estimation.filtered import filtered_blocks, power_blocks
from dynid_ros.estimation.rows import Block, regression_blocks
from dynid_ros.signals.conditioning import Motion
from dynid_ros.signals.treatment import Treatment

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Method:
    """
    One way from motions to rows.

    Attributes
    ----------
    blocks : callable
        Makes the rows.
    rows_by_joint : bool
        Whether each joint has a row; power has one row for all.

    """

    blocks: Callable[[ArmModel, Sequence[Motion], Treatment, Array | None], Iterator[Block]]
    rows_by_joint: bool = True

    def compress(
        self,
        arm: ArmModel,
        motions: Sequence[Motion],
        treatment: Treatment,
        load_theta: Array | None,
    ) -> Compressed:
        """Compress the rows of all motions."""
        joints = arm.n if self.rows_by_joint else 1
        blocks = self.blocks(arm, motions, treatment, load_theta)
        return compress(joints, base_parameters(arm).count, blocks)


DIFFERENTIATED = Method(regression_blocks)

METHODS = {
    'differentiated': DIFFERENTIATED,
    'filtered': Method(filtered_blocks),
    'power': Method(power_blocks, rows_by_joint=False),
}
