"""Channels: what happens to each field of a record before it leaves its owner, and who answers.

`FieldChannel` is the protocol; each kind has a file of its own and is registered in kinds.py and respondent.js.
Formats and drawn answers are fixed for good: change neither.
"""
