"""What a party's SuperNode runs."""

from privet.partitioned.transports.flower import client_app

app = client_app()
