"""Forests over the bits of coded records, from flipped records or from random answers field by field.

Kernels are compiled and have plain twins in the tests; change both together.
"""
