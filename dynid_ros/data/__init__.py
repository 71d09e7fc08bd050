"""Measured data: recordings, their signals, streams and files."""
