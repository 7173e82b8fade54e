"""How good the models are: every method of privet, and its peers, on UCI tables.

``python -m benchmarks.utility.run`` measures what is missing in ``results/fits.jsonl``, and ``python -m
benchmarks.utility.page`` makes the page, the pictures and the summary in ``results/`` from it.
"""
