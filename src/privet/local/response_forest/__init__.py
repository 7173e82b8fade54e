"""Forests of bits from flipped records and random answers."""
