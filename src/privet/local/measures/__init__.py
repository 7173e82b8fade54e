"""How private a channel is: intervals, odds, what filtering recovers."""
