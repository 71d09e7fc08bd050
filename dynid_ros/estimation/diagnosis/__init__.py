"""Diagnosis of poor fits, and the verdict on a model."""
