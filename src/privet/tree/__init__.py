"""Trees as flat arrays: their structure, the kernels that walk them, and what is read off released counts.

Nothing here has heard of epsilon.
"""
