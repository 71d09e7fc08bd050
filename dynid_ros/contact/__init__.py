"""What touches the arm."""
