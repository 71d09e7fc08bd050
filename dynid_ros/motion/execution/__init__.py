"""Running a motion: its phases, the control law and the safety monitor."""
