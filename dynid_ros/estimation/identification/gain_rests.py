"""Drive gains from rests without and with a weighed load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.rests import find_rests, Rests
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import fitted_to, motions
from dynid_ros.estimation.blocks.qr_factors import compress, QRFactors
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.calibration.drive_gains import GainProjection
from dynid_ros.estimation.calibration.gain_verdict import DriveGains
from dynid_ros.estimation.calibration.motor_rows import MotorRows
from dynid_ros.utilities.arrays import Array, joined

#: Rests from which on recordings count as rests, if the arm rests for `STILL` of the time: a
#: motion has two, before it and after it.
FEWEST, STILL = 4, 0.4
#: Friction that holds a joint at rest: a part with the direction in which it came, and a constant.
FRICTION, HOLDING = ('coulomb', 'offset'), 'Fc'


@dataclass(frozen=True, eq=False)
class RestRows:
    """
    Rows of an arm at rest: gravity, and friction that holds it.

    Attributes
    ----------
    rests : Rests
        Positions, torque, and the directions in which the joints came.

    """

    rests: Rests

    def blocks(self, arm: ArmModel, _load_theta: Array | None = None) -> Iterator[RowBlock]:
        """Yield one row for each rest; static friction replaces the Coulomb term."""
        q = self.rests.q
        still = np.zeros_like(q)
        Y = regressor(arm, q, still, still, load=still)
        Y[:, range(arm.n), arm.layout.friction_columns(HOLDING)] = self.rests.approach
        W = np.ascontiguousarray(Y[:, :, base_parameters(arm).columns])
        every = np.ones(q.shape, dtype=np.bool_)
        yield RowBlock(0, np.arange(float(len(q))), q, still, W, self.rests.tau, every)

    def compressed(self, arm: ArmModel, _load_theta: Array | None = None) -> QRFactors:
        """Return the factors of the rows."""
        return compress(base_parameters(arm).count, self.blocks(arm))


def rests_of(arm: ArmModel, recordings: Sequence[Recording]) -> Rests | None:
    """
    Find the rests of recordings in which an arm mostly rests.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : sequence of Recording
        Checked recordings, one at least.

    Returns
    -------
    Rests or None
        None if they hold a motion, or too few rests.

    """
    # Nothing is known of the delay without motion, and it does not matter.
    quiet = replace(arm, conditioning=replace(arm.conditioning, delay=0.0)).memoryless
    settings = choose_conditioning(quiet, recordings)
    parts, still, samples = [], 0, 0
    for recording in recordings:
        own = fitted_to(settings, recording)
        prepared = motions(quiet, recording, own)
        parts.append(find_rests(prepared, own.rate_hz))
        still += sum(int((~motion.moving).all(axis=1).sum()) for motion in prepared)
        samples += sum(len(motion.t) for motion in prepared)
    found = joined(parts)
    return found if len(found.q) >= FEWEST and still >= STILL * samples else None


def gains_at_rest(arm: ArmModel, free: Rests, loaded: Rests, mass: float) -> DriveGains:
    """
    Find drive gains from the weight of a load.

    Parameters
    ----------
    arm : ArmModel
        The arm, with its stated gains.
    free, loaded : Rests
        Rests without the load, and with it. The positions need not be the same: rests of the
        free arm show its own gravity torque.
    mass : float
        Mass of the load, kg.

    Returns
    -------
    DriveGains
        With no ratio for joints that gravity does not load.

    """
    arm = arm.as_measured.with_friction(FRICTION)
    recorded = [MotorRows(RestRows(rests), loaded=with_load, own_friction=False)
                for rests, with_load in ((free, False), (loaded, True))]
    problem = GainProjection(arm, recorded, [None, None], np.zeros(arm.n))
    before = problem.error_percent
    problem.minimise(np.zeros(arm.n))
    found = replace(problem.gains(mass), disagreement=np.ones(arm.n))
    return DriveGains(
        arm.joint_names, arm.drive.gain, found, before, problem.error_percent, FRICTION, mass,
        _notes(arm, free, loaded))


def _notes(arm: ArmModel, free: Rests, loaded: Rests) -> tuple[str, ...]:
    notes = [f'{len(free.q)} rests without the load and {len(loaded.q)} with it, by gravity alone']
    both = free.both_directions & loaded.both_directions
    if not both.all():
        one = ', '.join(name for name, known in zip(arm.joint_names, both, strict=True)
                        if not known)
        notes.append(f'{one} did not come to rest from both directions, so that friction passes '
                     'for a part of the load; approach positions from both sides')
    return tuple(notes)
