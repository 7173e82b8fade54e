"""Exact integer mechanisms, one a file, each with its argument in the ``.md`` beside it.

Import a mechanism from its own file; this package imports nothing, so that whoever only plans need not load
numba.
"""
