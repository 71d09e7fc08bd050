"""Clocks of samples, by the smoothness of the motion."""
