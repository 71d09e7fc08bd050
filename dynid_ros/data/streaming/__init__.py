"""Causal conditioning of streams, sample by sample."""
