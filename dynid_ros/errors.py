"""Exceptions for users; the command line prints each as one line."""


class DynidError(Exception):
    """Base of everything that this package raises on purpose."""


class InputError(DynidError):
    """Wrong use, or unreadable input: the message names the place and the remedy."""


class ArmError(InputError):
    """The description of the arm (URDF, DH table, arm.yaml) is unusable."""


class RecordingError(InputError):
    """A recording cannot be read or cannot be identified from."""


class ResultError(InputError):
    """A result folder or file is missing, damaged or cannot be written."""


class DynidWarning(UserWarning):
    """A doubt or a choice that a user should know; the command line prints each as one line."""


class ArmWarning(DynidWarning):
    """A description of an arm leaves something open, and a value is taken for it."""
