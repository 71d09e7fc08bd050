# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Linear algebra on one thread, for the command, the nodes, the tests and the benchmarks.

Import this before NumPy; `dynid_ros.utilities.one_thread` works after it, too. The matrices here
are small: a second thread of the BLAS gains nothing on an idle machine, and on a busy one the two
wait for each other, which made `dynid identify` ten times slower. A setting of the user is kept.
"""

import os

for _variable in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')
