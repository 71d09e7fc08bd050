"""What moves the simulated arm: its time, real or in lockstep, and the trajectories it takes."""
