"""A port of one's own on this machine, also while nothing listens there."""

import socket
import sys
import weakref


class OwnPort:
    """A free port, bound as long as it is held, so that nobody else gets it before a server starts or starts again."""

    def __init__(self):
        held = socket.socket()
        # Linux lets another socket of the same user listen at a port that is bound so and that nobody listens at.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        self.number = held.getsockname()[1]
        if sys.platform == "linux":
            weakref.finalize(self, held.close)
        else:
            held.close()
