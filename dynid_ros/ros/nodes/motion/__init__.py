"""Outputs and reports of the trajectory publisher."""
