"""The server around both services: where it listens, and how long it waits for whom."""

import asyncio
import contextlib
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from privet.errors import ParameterError
from privet.service.requests import read_body
from privet.service.server import check_binding, configuration, is_loopback

# Of the server's time, which a test lets jump; and of the test's own, of which even a busy machine needs a part only.
HEADER_SECONDS, ENOUGH = 10_000.0, 120.0


@pytest.mark.parametrize(("host", "own"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("10.1.2.3", False),
                                           ("192.168.1.4", False), ("ask.example", False)])  # fmt: skip
def test_a_loopback_address_is_known(host, own):
    assert is_loopback(host) is own


def test_other_machines_are_served_with_tls_or_by_name_without(tmp_path):
    check_binding("127.0.0.1", None, None, without_tls=False)
    check_binding("10.1.2.3", None, None, without_tls=True)
    with pytest.raises(ParameterError, match="cross the line in clear; pass --certificate and --key"):
        check_binding("10.1.2.3", None, None, without_tls=False)
    with pytest.raises(ParameterError, match="go together"):
        check_binding("10.1.2.3", tmp_path / "chain.pem", None, without_tls=False)
    with pytest.raises(ParameterError, match="there is no file"):
        check_binding("10.1.2.3", tmp_path / "chain.pem", tmp_path / "key.pem", without_tls=False)


async def length(request):
    return PlainTextResponse(str(len(await read_body(request, seconds=10 * HEADER_SECONDS))))


class Clock:
    """The time of a server's event loop, which passes as it does, and jumps where a test says so."""

    def __init__(self):
        self._ahead, self._loop = 0.0, None

    def of(self, loop):
        self._loop, own = loop, loop.time
        loop.time = lambda: own() + self._ahead

    def jump(self, seconds):
        self._ahead += seconds
        self._loop.call_soon_threadsafe(lambda: None)  # wakes it up


class Served:
    """A server in a thread: its address, its clock and its connections."""

    def __init__(self, address, server):
        self.address, self.clock, self._server = address, Clock(), server

    async def run(self, listening):
        self.clock.of(asyncio.get_running_loop())
        await self._server.serve(sockets=[listening])

    def until(self, is_so, n=1):
        """Wait until so many connections are as said."""
        end = time.monotonic() + ENOUGH
        while sum(map(is_so, list(self._server.server_state.connections))) != n:
            assert time.monotonic() < end
            time.sleep(0.005)


@contextlib.contextmanager
def served(**limits):
    app = Starlette(routes=[Route("/", length, methods=["GET", "POST"])])
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(configuration(app, "127.0.0.1", 0, header_seconds=HEADER_SECONDS, **limits))
        own = Served(listening.getsockname(), server)
        running = threading.Thread(target=lambda: asyncio.run(own.run(listening)))
        running.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield own
        finally:
            server.should_exit = True
            running.join()


def is_waited_for(connection):
    """Return whether a connection has to say soon what it asks for."""
    return connection._late is not None


def is_heard(connection):
    """Return whether a request has begun: its header is there."""
    return connection.cycle is not None


def connected(own):
    return socket.create_connection(own.address, timeout=ENOUGH)


def is_closed(connection):
    """Wait until the other side has closed a connection without a word."""
    with connection:
        return connection.recv(1) == b""


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nX-Slow: "])
def test_who_does_not_say_in_time_what_is_asked_for_is_cut_off(begun):
    with served() as own:
        connection = connected(own)
        connection.sendall(begun)
        own.until(is_waited_for)
        own.clock.jump(HEADER_SECONDS)
        assert is_closed(connection)


def test_a_second_question_over_the_same_connection_must_be_said_in_time_too():
    with served() as own:
        connection = connected(own)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = b""
        while not answer.endswith(b"\r\n\r\n0"):
            more = connection.recv(1000)
            assert more, answer
            answer += more
        own.until(is_waited_for, 0)
        connection.sendall(b"GET / HT")
        own.until(is_waited_for)
        own.clock.jump(HEADER_SECONDS)
        assert is_closed(connection)


def test_a_body_may_take_longer_than_a_header():
    with served() as own, connected(own) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")
        own.until(is_heard)
        for _ in range(4):
            own.clock.jump(HEADER_SECONDS)
            connection.sendall(b"x")
        answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 200")


def test_too_many_connections_are_refused_until_the_idle_ones_are_cut_off():
    with served(most_connections=5) as own:
        idle = [connected(own) for _ in range(5)]
        own.until(is_waited_for, 5)
        url = f"http://127.0.0.1:{own.address[1]}/"
        assert httpx.get(url, timeout=ENOUGH).status_code == 503
        own.clock.jump(HEADER_SECONDS)
        assert all(is_closed(each) for each in idle)
        assert httpx.get(url, timeout=ENOUGH).status_code == 200


def test_nothing_is_told_about_the_server_itself():
    with served() as own:
        connected(own).close()
        headers = httpx.get(f"http://127.0.0.1:{own.address[1]}/", timeout=ENOUGH).headers
        assert not {"server", "date"} & set(headers)
