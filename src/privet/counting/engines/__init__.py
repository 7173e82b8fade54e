"""Engines that count the parts of a table: any executor, Dask, Spark. `parts.md` argues why the sum is right.

`parts` is what all engines share: what a part is, what is sent to a worker, and how results are checked and added up.
"""
