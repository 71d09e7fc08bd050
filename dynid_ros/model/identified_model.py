"""The identified dynamics of an arm, with all that is known of how good they are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.model.metrics import Metrics
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.recordings.recording import Defect
from dynid_ros.signals.conditioning_settings import ConditioningSettings

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """
    Whether the result can be trusted.

    Attributes
    ----------
    trustworthy : bool
        False if there is any reason against it.
    reasons : tuple of str
        A sentence each.
    expected_error_percent : float
        Relative torque error that the covariance of the parameters alone predicts, for motions
        within the range of positions and velocities of the recording.
    undetermined_joints : tuple of str
        Joints whose torque would be predicted badly.
    undetermined_parameters : tuple of str
        Base parameters behind that.

    """

    trustworthy: bool
    reasons: tuple[str, ...]
    expected_error_percent: float
    undetermined_joints: tuple[str, ...] = ()
    undetermined_parameters: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class IdentifiedModel:
    """
    The identified dynamics of an arm.

    Attributes
    ----------
    arm : ArmModel
        The arm, with the friction terms that were chosen.
    theta : (b,) ndarray
        Base parameters, in the order of ``base_parameters(arm)``.
    covariance : (b, b) ndarray
        With regard to coloured residuals (Newey and West).
    std_white : (b,) ndarray
        Standard deviations as if residuals were white, for comparison.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    condition_number : float
        Of the regressor without weights, in the 2-norm.
    samples, seconds : int, float
        Samples and length of the recordings that were used for fitting.
    sources : tuple of str
        Names of these recordings.
    data_hash : str
        SHA-256 of the samples used for fitting.
    treatment : ConditioningSettings
        What was done to the signals.
    fit : Metrics
        In-sample figures.
    validation : Metrics or None
        Figures on held-out samples.
    verdict : Verdict
        Whether to trust it.
    friction_trials : dict of str to float
        Cross-validated relative error by set of friction terms, if these were chosen, %.
    defects : tuple of Defect
        What is wrong with the recordings.
    timing : dict of str to float
        Seconds by stage.
    predictions : tuple of Prediction
        Torque over time, for plots.

    """

    arm: ArmModel
    theta: Array
    covariance: Array
    std_white: Array
    sigma: Array
    condition_number: float
    samples: int
    seconds: float
    sources: tuple[str, ...]
    data_hash: str
    treatment: ConditioningSettings
    fit: Metrics
    validation: Metrics | None
    verdict: Verdict
    friction_trials: dict[str, float] = field(default_factory=dict)
    defects: tuple[Defect, ...] = ()
    timing: dict[str, float] = field(default_factory=dict)
    predictions: tuple[Prediction, ...] = ()

    @property
    def std(self) -> Array:
        """Return standard deviations of the base parameters, with regard to coloured residuals."""
        return np.sqrt(np.diag(self.covariance))
