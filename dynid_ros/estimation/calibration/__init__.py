"""Calibration together with the dynamics: joint zeros and drive gains."""
