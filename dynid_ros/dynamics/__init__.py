"""How the arm moves: regressors, base parameters and rigid-body functions."""
