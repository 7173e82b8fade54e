"""Where exact counts come from: memory, files, streams, parts on any executor. It does not matter: it is a sum."""
