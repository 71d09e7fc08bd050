"""From conditioned motions to the triangular factors of their rows, by group of the motion."""
