"""The server around both services: where it listens, and how long it waits for whom."""

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
    return PlainTextResponse(str(len(await read_body(request))))


@contextlib.contextmanager
def served(**limits):
    app = Starlette(routes=[Route("/", length, methods=["GET", "POST"])])
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(configuration(app, "127.0.0.1", 0, **limits))
        running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        running.start()
        try:
            yield listening.getsockname()
        finally:
            server.should_exit = True
            running.join()


def connected(address):
    for _ in range(1000):
        try:
            return socket.create_connection(address, timeout=30)
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise AssertionError


def is_closed(connection):
    """Wait until the other side has closed a connection without a word."""
    with connection:
        return connection.recv(1) == b""


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nX-Slow: "])
def test_who_does_not_say_in_time_what_is_asked_for_is_cut_off(begun):
    with served(header_seconds=0.3) as address:
        connection = connected(address)
        connection.sendall(begun)
        assert is_closed(connection)


def test_a_second_question_over_the_same_connection_must_be_said_in_time_too():
    with served(header_seconds=0.3) as address:
        connection = connected(address)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = b""
        while not answer.endswith(b"\r\n\r\n0"):
            answer += connection.recv(1000)
        connection.sendall(b"GET / HT")
        assert is_closed(connection)


def test_a_body_may_take_longer_than_a_header():
    with served(header_seconds=0.2) as address, connected(address) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")
        for _ in range(4):
            time.sleep(0.1)
            connection.sendall(b"x")
        answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 200")


def test_too_many_connections_are_refused_until_the_idle_ones_are_cut_off():
    with served(header_seconds=2.0, most_connections=5) as address:
        idle = [connected(address) for _ in range(5)]
        url = f"http://127.0.0.1:{address[1]}/"
        assert httpx.get(url).status_code == 503
        assert all(is_closed(own) for own in idle)
        assert httpx.get(url).status_code == 200


def test_nothing_is_told_about_the_server_itself():
    with served() as address:
        connected(address).close()
        headers = httpx.get(f"http://127.0.0.1:{address[1]}/").headers
        assert not {"server", "date"} & set(headers)
