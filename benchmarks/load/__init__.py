"""Load: a hundred million rows, ten thousand fits, 64 threads, and how long noise takes to draw.

``python -m benchmarks.load.run`` measures; `results` has the page of the last full run.
"""
