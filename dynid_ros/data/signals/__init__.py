"""Filters, derivatives and decimation of complete recordings."""
