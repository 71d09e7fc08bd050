"""Readers of robot descriptions (URDF, xacro, MJCF, DH tables) and the kinematic tree."""
