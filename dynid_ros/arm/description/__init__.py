"""Readers of robot descriptions (URDF, xacro, MJCF, SDF, DH tables) and the kinematic tree."""
