"""What several verbs share: options, files and ledgers, output and progress, and the program that runs a verb.

What serves one verb alone belongs into the module of that verb, unless it is a subject of its own. Every error ends
in `program`, as one sentence and an exit code; no message may quote a value of a row.
"""
