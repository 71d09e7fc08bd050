"""Calibration of joint zeros and drive gains together with the dynamics."""
