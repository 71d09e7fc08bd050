"""Dynamics of the arm: regressors, base parameters and rigid-body functions."""
