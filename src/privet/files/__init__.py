"""Documents read within bounds, files written whole or not at all, and locks that tell who is still writing.

Whatever privet keeps on a disk goes through here. After a change, run `make crashes`.
"""
