"""How to shake the arm."""
