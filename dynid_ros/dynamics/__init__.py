"""How the arm moves."""
