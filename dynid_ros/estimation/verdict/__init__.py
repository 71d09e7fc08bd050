"""The rules of a verdict: which findings stand, and how grave they are."""
