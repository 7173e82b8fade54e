"""Fletcher and Islam (2015), DPDF: greedy private forests with rules, against DiffPID3."""
