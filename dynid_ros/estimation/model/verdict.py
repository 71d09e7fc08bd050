# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The verdict on a model, and the findings behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """
    One reason against a model, or one for caution.

    Attributes
    ----------
    code : str
        Kind of the finding, such as ``effort_sign`` or ``excitation``; stable between versions.
    text : str
        The fault, a clause with its numbers.
    remedy : str
        What to do, a clause; empty if `text` says it.
    joints : tuple of str
        Joints concerned; empty for the complete arm.
    severity : str
        ``error`` if the model or a measurement is wrong; ``warning`` if the torque of another
        motion is still predicted well.
    error_before_percent, error_after_percent : float or None
        Cross-validated torque error as recorded, and with the fault corrected, %.

    """

    code: str
    text: str
    remedy: str = ''
    joints: tuple[str, ...] = ()
    severity: str = 'error'
    error_before_percent: float | None = None
    error_after_percent: float | None = None

    @property
    def fault(self) -> str:
        """Return fault and evidence in one clause."""
        before, after = self.error_before_percent, self.error_after_percent
        if before is None or after is None or f'{before:.1f}' == f'{after:.1f}':
            return self.text
        return (f'{self.text} (undoing it takes the error on blocks that were not fitted from '
                f'{before:.1f} to {after:.1f} %)')

    @property
    def sentence(self) -> str:
        """Return fault, evidence and remedy in one sentence."""
        return self.fault + (f'; {self.remedy}' if self.remedy else '')

    @property
    def is_error(self) -> bool:
        """Whether the finding makes the model untrustworthy."""
        return self.severity == 'error'


def no_errors(findings: Iterable[Finding]) -> bool:
    """Whether no finding is an error."""
    return not any(finding.is_error for finding in findings)


@dataclass(frozen=True)
class SuspectLine:
    """
    A line of the table of suspects.

    Attributes
    ----------
    text : str
        The fault, a clause.
    gain : float
        Log likelihood with the fault corrected, minus that of the recording as it is.
    evidence : float or None
        Cross-validated gain, without the group of samples that favours the suspect most, divided
        by the dispersion that model errors cause; None if the gain is too small for
        cross-validation.
    error_percent : float or None
        Cross-validated torque error with the fault corrected, %.
    reported : bool
        Whether it is a finding.
    size : str or None
        Size of the fault with its 95 % interval, if it has one.

    """

    text: str
    gain: float
    evidence: float | None = None
    error_percent: float | None = None
    reported: bool = False
    size: str | None = None


@dataclass(frozen=True)
class Detectable:
    """
    Smallest size of one kind of fault that a recording would detect.

    Attributes
    ----------
    kind : str
        Kind of the fault, such as ``position_zero``.
    joints : tuple of str
        Joints that it concerns; empty for the complete arm.
    smallest : str or None
        Smallest detectable size; None if no plausible size is detectable.

    """

    kind: str
    joints: tuple[str, ...]
    smallest: str | None


@dataclass(frozen=True)
class Verdict:
    """
    Whether the result can be trusted.

    Attributes
    ----------
    trustworthy : bool
        False if any finding is an error.
    findings : tuple of Finding
        Errors and warnings, the cause first.
    expected_error_percent : float
        Relative torque error that the covariance of the parameters alone predicts, for motions
        within the range of positions and velocities of the recording.
    undetermined_joints : tuple of str
        Joints whose torque would be predicted badly.
    undetermined_parameters : tuple of str
        Base parameters behind that.
    suspects : tuple of SuspectLine
        The likeliest faults of data and arm, the best first.
    detectable : tuple of Detectable
        Smallest detectable sizes of faults.

    """

    trustworthy: bool
    findings: tuple[Finding, ...]
    expected_error_percent: float
    undetermined_joints: tuple[str, ...] = ()
    undetermined_parameters: tuple[str, ...] = ()
    suspects: tuple[SuspectLine, ...] = ()
    detectable: tuple[Detectable, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the errors, a sentence each."""
        return tuple(finding.sentence for finding in self.findings if finding.is_error)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings, a sentence each."""
        return tuple(finding.sentence for finding in self.findings if not finding.is_error)
