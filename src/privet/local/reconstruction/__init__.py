"""Distributions and trees, reconstructed from disturbed values."""
