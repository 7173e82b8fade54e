"""The command line: data on stdout, messages on stderr, one exit code for each kind of outcome.

`app` is the registry: a verb is a module in `verbs` and one line there. A verb reads options, calls the library and
prints. `support` holds what several verbs share. Verbs, options and exit codes are in users' scripts: they stay.
"""
