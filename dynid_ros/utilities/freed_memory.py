# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Memory of arrays that goes back to the system as they are freed, for the command.

Once an array is freed, the C library of Linux (glibc) takes others of up to its size, 32 MB at
most, from its heap, where any small object above them holds them back: 80 MB of an hour at 1 kHz.
A fixed size from which arrays have pages of their own turns that off. A setting of the user is
kept.
"""

from contextlib import suppress
import ctypes
import os

#: M_MMAP_THRESHOLD of malloc.h, and the size: no block of rows reaches it, so that they are made
#: as fast as before.
_PARAMETER, _LARGE = -3, 2**24

if 'MALLOC_MMAP_THRESHOLD_' not in os.environ:
    # Other C libraries do not keep them.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_PARAMETER, _LARGE)
