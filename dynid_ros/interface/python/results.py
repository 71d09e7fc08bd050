# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The results object: an identified model with methods for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.dynamics import rigid_body
from dynid_ros.estimation.model.identified_model import IdentifiedModel as Core
from dynid_ros.interface.python.boundary import (
    Arm,
    as_arm,
    as_recording,
    data_frame,
    Log,
    quantile,
)
from dynid_ros.interface.python.validation import Validation
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import as_path
from dynid_ros.utilities.summarised import html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from dynid_ros.applications.rollout.rollout import Rollouts


class IdentifiedModel(Core):
    """
    The identified dynamics of an arm, from `identify`, `load_model` or a live session.

    Attributes
    ----------
    parameters : dict of str to float
        Base parameters by name, SI units.
    names, units : tuple of str
        Name and SI unit of each, in the order of ``parameters``.
    theta, std : (b,) ndarray
        Values and standard deviations, in this order.
    from_data : (b,) ndarray of bool
        Which of them the data determine; the prior gives the others.
    covariance : (b, b) ndarray
        Covariance; ``std`` is the root of its diagonal.
    verdict : Verdict
        Whether to trust the model, with reasons and warnings.
    fit, validation : Metrics
        Torque errors on the fitted and on the held-out samples.

    `dynid_ros.estimation.model.identified_model` describes all other attributes.

    """

    @classmethod
    def of(cls, model: Core) -> IdentifiedModel:
        """Return a model from the rooms below with the methods of this class."""
        if isinstance(model, cls):
            return model
        made = object.__new__(cls)
        # With all that was found for it.
        made.__dict__.update(vars(model))
        return made

    def __eq__(self, other: object) -> bool:
        """Whether two models are equal, as a saved model and the one read back are."""
        from dynid_ros.data.files.plain_values import field_hints, same_values

        if not isinstance(other, Core):
            return NotImplemented
        return all(same_values(getattr(self, name), getattr(other, name))
                   for name in field_hints(Core))

    def __hash__(self) -> int:
        return hash((self.data_hash, self.theta.tobytes()))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the base parameters, (b,)."""
        return tuple(self.parameters)

    @property
    def units(self) -> tuple[str, ...]:
        """Return their SI units, (b,)."""
        from dynid_ros.arm.parameters import parameter_units
        from dynid_ros.dynamics.base import base_parameters

        units = parameter_units(self.arm)
        return tuple(units[column] for column in base_parameters(self.arm).columns)

    def conf_int(self, level: float = 0.95) -> Array:
        """
        Return confidence intervals of the base parameters, SI units.

        Parameters
        ----------
        level : float
            Probability with which an interval holds the truth, between 0 and 1.

        Returns
        -------
        (b, 2) ndarray
            Lower and upper ends, ``theta ± z std``, in the order of `names`.

        Raises
        ------
        InputError
            The level is not between 0 and 1.

        """
        half = quantile(level) * self.std
        return np.column_stack([self.theta - half, self.theta + half])

    def to_dataframe(self, level: float = 0.95) -> DataFrame:
        """
        Return the base parameters as a table of pandas.

        Parameters
        ----------
        level : float
            As for `conf_int`.

        Returns
        -------
        pandas.DataFrame
            A row for each of `names`, with ``value``, ``std``, ``low``, ``high``, ``unit``,
            ``source`` (``data``, or ``prior`` where the motion shows little) and ``group``, the
            sum of standard parameters that it stands for.

        Raises
        ------
        InputError
            The level is not between 0 and 1, or pandas is not installed.

        """
        from dynid_ros.dynamics.base import base_parameters
        from dynid_ros.estimation.estimate.possible_parameters import source_of

        low, high = self.conf_int(level).T
        return data_frame({
            'value': self.theta, 'std': self.std, 'low': low, 'high': high, 'unit': self.units,
            'source': [source_of(each) for each in self.from_data],
            'group': base_parameters(self.arm).groups}, self.names)

    def summary(self) -> str:
        """Return the text that ``dynid identify`` prints of the model."""
        from dynid_ros.interface.answers.model import result_answer

        return result_answer(self, rollouts=self.kept_rollouts).text()

    def validate(
        self, recording: Log, *, topic: str = 'joint_states', received: bool = False,
    ) -> Validation:
        """
        Predict the torque of a recording that was not used for fitting.

        Parameters
        ----------
        recording : str, Path or Recording
            The recording, or the path of one.
        topic, received
            As for `read_recording`.

        Raises
        ------
        RecordingError
            The recording is unusable, or of another arm.

        """
        log = as_recording(
            recording, self.arm, topic=topic, received=received, of_model=True)
        return Validation(self, log)

    def rollout(
        self, recording: Log, others: Mapping[str, Arm] | None = None, *,
        topic: str = 'joint_states', received: bool = False,
    ) -> Rollouts:
        """
        Simulate the arm in MuJoCo from measured states, and compare its motion.

        Parameters
        ----------
        recording : str, Path or Recording
            The recording, or the path of one; of one that was fitted, the held-out part counts.
        others : mapping of str to (str, Path or ArmModel), optional
            Descriptions of the same joints to simulate beside it, by name; by default the one that
            the model was identified with, if it states possible links.
        topic, received
            As for `read_recording`.

        Raises
        ------
        ArmError
            A description has other joints, or links that cannot be simulated.
        InputError
            MuJoCo is missing.
        RecordingError
            The recording is unusable, of another arm, or too short.

        """
        from dynid_ros.applications.rollout.rollout import Rollouts

        log = as_recording(
            recording, self.arm, topic=topic, received=received, of_model=True)
        beside = None if others is None else {
            name: as_arm(each) for name, each in others.items()}
        return Rollouts(self, log, beside)

    @cached_property
    def kept_rollouts(self) -> Rollouts | None:
        """
        Simulate along the held-out rows of the model, as the report shows it.

        None without such rows, possible links, or MuJoCo.
        """
        from dynid_ros.applications.rollout.rollout import kept_rollouts

        return kept_rollouts(self)

    def plot(self) -> Figure:
        """Draw measured and predicted torque over time, and the friction of each joint."""
        from dynid_ros.pages.report.figures import model_figure

        return model_figure(self)

    def gravity(self, q: ArrayLike) -> Array:
        """
        Return the torque that holds the arm at rest, without friction.

        Parameters
        ----------
        q : (n,) or (N, n) array_like
            Positions, rad or m.

        Returns
        -------
        (n,) or (N, n) ndarray
            Nm, or N for prismatic joints; zero where the drive signal lacks gravity.

        """
        return rigid_body.gravity_torque(self, q)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """
        Return the mass matrix, rotor inertia included, kg m².

        Parameters
        ----------
        q : (n,) or (N, n) array_like
            Positions, rad or m.

        Returns
        -------
        (n, n) or (N, n, n) ndarray
            Symmetric; positive definite where ``possible`` is true.

        """
        return rigid_body.mass_matrix(self, q)

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike = 0.0, qdd: ArrayLike = 0.0,
    ) -> Array:
        """
        Return the torque of a motion without friction; `predict_torque` includes it.

        Parameters
        ----------
        q, qd, qdd : (n,) or (N, n) array_like
            rad, rad/s, rad/s² (m for prismatic joints); the arm is at rest by default.

        Returns
        -------
        (n,) or (N, n) ndarray
            Nm, or N for prismatic joints.

        """
        return rigid_body.inverse_dynamics(self, q, qd, qdd)

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike = 0.0, tau: ArrayLike = 0.0,
    ) -> Array:
        """
        Return the acceleration of the joints under the torque of the drives minus friction.

        Parameters
        ----------
        q, qd : (n,) or (N, n) array_like
            rad, rad/s (m for prismatic joints).
        tau : (n,) or (N, n) array_like
            Torque beyond friction, Nm, or N for prismatic joints.

        Returns
        -------
        (n,) or (N, n) ndarray
            rad/s², or m/s² for prismatic joints.

        Raises
        ------
        InputError
            A shape is wrong, or the mass matrix is not positive definite there.

        """
        return rigid_body.forward_dynamics(self, q, qd, tau)

    def save(self, folder: str | Path) -> Path:
        """
        Write ``result.yaml``, ``prediction.npz`` and ``report.html``, as ``dynid identify -o``.

        Parameters
        ----------
        folder : str or Path
            Folder; made where it is missing, and an earlier result in it is replaced.

        Returns
        -------
        Path
            The folder, for `load_model`.

        Raises
        ------
        ResultError
            The folder cannot be made or written.

        """
        from dynid_ros.estimation.result_files.result_file import result_contents
        from dynid_ros.pages.report.page import report_page
        from dynid_ros.utilities.atomic_write import write_together

        folder = as_path('folder', folder)
        page = folder / 'report.html'
        write_together({**result_contents(self, folder),
                        page: report_page(self, page, self.kept_rollouts)})
        return folder

    def _repr_html_(self) -> str:
        """Show the verdict and the errors of the joints in a notebook."""
        from dynid_ros.interface.answers.model import error_table

        title, *facts = repr(self).splitlines()
        head, *rows = error_table(self.validation or self.fit, self.arm)
        return html_table(title, rows, head, [
            *(each.strip() for each in facts), *self.verdict.warnings,
            *(each.sentence for each in self.uses)])
