"""Trees as flat arrays: their structure, the kernels that walk them, and what is computed from released counts.

Nothing here knows epsilon or draws noise. `forest` is the data structure; `random_structure` and `greedy` grow it;
`kernels` are compiled; `counted`, `intervals`, `vote`, `conditions` and `rules` read released counts.
"""
