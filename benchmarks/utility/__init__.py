"""How good the models are: every method of privet, and its peers, on public tables.

``python -m benchmarks.utility.run`` measures what is missing in ``results/fits.jsonl``, `monotone` the recommended
forest at more epsilons, and ``python -m benchmarks.utility.page`` makes the page, the pictures and the summary in
``results/`` from it. `compare` is for tuning: it shows the fits of two files side by side.
"""
