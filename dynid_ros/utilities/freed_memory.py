# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Return the memory of freed arrays to the system, for the command.

Once an array is freed, the C library of Linux (glibc) allocates others of up to its size, 32 MB at
most, on its heap, where any small object above them prevents their return: 80 MB of an hour at 1
kHz. A fixed threshold, above which arrays have pages of their own, turns that off. A setting of
the user is kept.
"""

from contextlib import suppress
import ctypes
import os

#: M_MMAP_THRESHOLD of malloc.h, and its value: above all blocks of rows, which stay on the heap.
_PARAMETER, _LARGE = -3, 2**24

if 'MALLOC_MMAP_THRESHOLD_' not in os.environ:
    # Other C libraries do not keep freed arrays.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_PARAMETER, _LARGE)
