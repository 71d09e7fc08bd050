"""Simulated arms with known parameters."""
