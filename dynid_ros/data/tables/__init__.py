# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tables of numbers in named columns: text, npz, npy and MAT files, data sets of LeRobot."""
