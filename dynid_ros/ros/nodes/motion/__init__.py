"""How a motion leaves the trajectory publisher, and what comes back."""
