"""A secure sum: only the sum of all parties' noisy counts is opened. The argument is in `forest.md`.

`terms` are agreed on, `masks` hide, `messages` are sent, `store` keeps what a party must not draw twice, `round` is one
party's side, and `forest` is the model. Where parties may vanish (`dropouts.md`), `shamir` and `shares` let others take
the masks off, `survivors` says who is counted, and `dropouts` is one party's side.
"""
