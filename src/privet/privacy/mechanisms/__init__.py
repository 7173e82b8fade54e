"""Exact integer mechanisms, one per file, each with its argument in the ``.md`` of the same name.

Import a mechanism from its own file. This package imports nothing, so that planning does not load numba. A mechanism
returns the noisy value and its receipt.
"""
