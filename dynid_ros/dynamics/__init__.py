# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Dynamics of the arm: regressors, base parameters and rigid-body functions."""
