"""How private a channel is: intervals, guesses, entropies, what filtering recovers, binary anonymity.

measures.py puts them together; the other modules are formulas, which know no kind of channel.
"""
