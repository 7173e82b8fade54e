"""The collector's side: distributions estimated from answers, and one tree that is grown on them.

Kinds of channels enter through `FieldChannel.see` alone; the estimates are post-processing and cost nothing.
"""
