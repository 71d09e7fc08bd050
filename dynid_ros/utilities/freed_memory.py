# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Return the memory of freed arrays to the system, for the command.

Once an array is freed, the C library of Linux (glibc) allocates others of up to its size, 32 MB at
most, on its heap, where any small object above them prevents their return: 80 MB of an hour at 1
kHz. A fixed threshold, above which arrays have pages of their own, turns that off. With it, the
library no longer adapts how much free memory it keeps at the end of the heap: each block of rows
would be returned, and the next one would get new pages of zeros. So that amount is fixed, too.
Settings of the user are kept.
"""

from contextlib import suppress
import ctypes
import os

#: M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of malloc.h, and their values: the first is above all
#: blocks of rows, which stay on the heap, and the second above all that exist at a time.
_SETTINGS = {'MALLOC_MMAP_THRESHOLD_': (-3, 2**24), 'MALLOC_TRIM_THRESHOLD_': (-1, 2**26)}

for _variable, _setting in _SETTINGS.items():
    if _variable not in os.environ:
        # Other C libraries do not keep freed arrays.
        with suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).mallopt(*_setting)
