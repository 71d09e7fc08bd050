"""Calibration together with the dynamics: joint zeros, drive gains and geometry."""
