"""Exact counts over rows: in memory, in files and streams, or in parts on an engine. The sum is the same everywhere.

`inputs` turns what was passed to a fit into rows; `rows` and `tables` count them; `engines/` counts parts elsewhere.
Everything returned here is exact. A mechanism must add noise before any of it is released.
"""
