# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Calibration of joint zeros and drive gains together with the dynamics."""
