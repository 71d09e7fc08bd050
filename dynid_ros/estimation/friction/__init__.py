"""Blocks of time, each predicted by a fit to the others: friction terms, error of the model."""
