"""Planning and running a motion."""
