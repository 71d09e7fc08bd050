"""Bags, tables and result files."""
