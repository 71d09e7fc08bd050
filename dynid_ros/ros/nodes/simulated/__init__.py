"""Time of the simulated arm, real or in lockstep, and its trajectories."""
