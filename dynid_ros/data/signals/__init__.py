"""Filters, derivatives and decimation of whole recordings."""
