"""Proof in simulation: an exported model that moves as the arm was recorded, and its samples."""
