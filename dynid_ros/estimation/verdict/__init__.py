"""The rules of a verdict: findings, their cause and their severity."""
