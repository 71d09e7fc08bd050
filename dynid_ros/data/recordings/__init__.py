"""Recordings, their cleaning and the checks for defects."""
