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
        What to do, a clause; empty where `text` holds it.
    joints : tuple of str
        Joints concerned; empty for the complete arm.
    severity : str
        ``error`` where the model or a measurement is wrong; ``warning`` for what does not spoil
        the torque of another motion.
    error_before_percent, error_after_percent : float or None
        Torque error on blocks that were not fitted, as recorded and after undoing the fault, %.

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
        """Whether the model cannot be trusted for it."""
        return self.severity == 'error'


def no_errors(findings: Iterable[Finding]) -> bool:
    """Whether none of some findings is an error."""
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
        Log likelihood with the fault undone, over that of the recording as it is.
    evidence : float or None
        The same on groups of samples that were not fitted, without the one that speaks most for
        it; None where the likelihood itself does not suffice.
    error_percent : float or None
        Torque error on these groups with the fault undone, %.
    reported : bool
        Whether it is a finding.
    size : str or None
        Size of the fault with its interval of 95 %, of one that is a number.

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
    What a recording shows of one kind of fault.

    Attributes
    ----------
    kind : str
        Kind of the fault, such as ``position_zero``.
    joints : tuple of str
        Joints that it concerns; none of the arm as a whole.
    smallest : str or None
        Smallest size that the table of suspects would find; None if it would find none.

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
        Which sizes of faults the recording would show.

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
