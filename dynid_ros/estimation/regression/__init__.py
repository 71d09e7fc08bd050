"""From conditioned motions to parameters: rows, factors, least squares."""
