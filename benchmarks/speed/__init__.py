"""Speed and memory: every bar as a ratio within one run, and how time and memory grow.

``python -m benchmarks.speed.run`` measures; `results` has the page of the last full run.
"""
