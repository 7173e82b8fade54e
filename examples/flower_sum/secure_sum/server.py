"""What carries the messages, and opens the sum."""

from privet.partitioned.transports.flower import server_app

app = server_app()
