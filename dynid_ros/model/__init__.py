"""The identified model: what an identification results in."""
