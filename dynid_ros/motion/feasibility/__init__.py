"""Limits, torque and clearance of a motion, verified at all times."""
