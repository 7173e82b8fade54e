"""The command line: data on stdout, messages on stderr, one exit code a kind of outcome."""
