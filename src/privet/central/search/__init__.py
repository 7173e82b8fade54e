"""A choice of method and settings that is paid for once: a trial on parts of the rows, then one fit to all of them.

`row_parts` splits the rows by secret coins, and `private_search` has the trial, the fit and the argument beside it.
"""
