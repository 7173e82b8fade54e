"""The whole family on the same tables at the same epsilons: how accurate it is, and what an attack shows beside it.

``python -m benchmarks.family.run`` measures what is missing in ``results/`` and makes ``docs/family.md`` from it.
"""
