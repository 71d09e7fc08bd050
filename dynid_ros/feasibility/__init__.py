"""Whether a motion keeps all limits of an arm, at all times."""
