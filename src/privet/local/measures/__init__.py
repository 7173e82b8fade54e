"""How private a channel is: intervals, guesses, entropies, what filtering recovers, binary anonymity.

measures.py puts them together; the other modules are formulas that do not depend on the kind of channel.
"""
