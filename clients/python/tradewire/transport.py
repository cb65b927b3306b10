"""How calls travel. It needs nothing but Python."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import selectors
import socket
import threading
import time
import urllib.parse
import urllib.request
from typing import Any, Iterator, Mapping, Optional

# Longer than a submit takes to answer, and than a stream is silent. Seconds.
TIMEOUT = 40
# A service closes a connection that is idle for 70 seconds: none is used again that was idle for longer than this. Seconds.
IDLE = 60
# Bytes of an answer, or of one message of a stream, at most: one without end would fill the memory.
MOST_BYTES = 4 << 20
# Characters of a message that are kept: more of it would fill a log.
MOST_CHARACTERS = 4_000
LATE = "the answer took too long"
OVER = "the stream was open for as long as was asked for"


class TradewireError(Exception):
    """A failure that the service reports. Its code is explained at `doc_url`."""

    def __init__(self, status: int, envelope: Mapping[str, Any]):
        error = envelope.get("error")
        # A page of a proxy may be JSON too, with an error of its own form.
        if envelope.get("success") is not False or not isinstance(error, dict) or not isinstance(error.get("code"), str):
            error = {}
        self.status = status
        self.code: str = _printable(error.get("code", ""))
        self.message: str = _printable(error.get("message", "the service answered with nothing of its own"))
        # A proxy's own page, such as 502, says nothing of what became of the call. Others will not change, nor will an address that moved.
        self.retryable: bool = error.get("retryable", status >= 500 or status in (302, 303, 307, 408, 429))
        self.safe_to_rebuild: Optional[bool] = error.get("safeToRebuild")
        self.field: Optional[str] = error.get("field")
        self.retry_after_ms: Optional[int] = error.get("retryAfterMs")
        self.details: Mapping[str, Any] = error.get("details") or {}
        self.doc_url: Optional[str] = error.get("doc_url")
        self.request_id: Optional[str] = envelope.get("requestId")
        super().__init__(f"{self.code}: {self.message}")


class _Connection(http.client.HTTPConnection):
    """A connection whose answer's head ends within its time-out: otherwise one byte at a time could take for ever."""

    timeout: float
    was_cut = False

    def getresponse(self) -> http.client.HTTPResponse:
        late = threading.Timer(self.timeout, self._cut)
        late.daemon = True
        late.start()
        try:
            return super().getresponse()
        finally:
            late.cancel()

    def _cut(self) -> None:
        self.was_cut = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):
            pass


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Connections:
    """Connections to one service. One whose answer was read to its end waits for the next call, which needs no handshake then."""

    def __init__(self, base_url: str):
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the URL of a service begins with http:// or https://")
        self._kind = _SecureConnection if parts.scheme == "https" else _Connection
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path
        self._tunnel: Mapping[str, str] = {}
        self._proxy: Optional[urllib.parse.SplitResult] = None
        proxy = urllib.request.getproxies().get(parts.scheme)
        if proxy and not urllib.request.proxy_bypass(parts.netloc):
            self._proxy = urllib.parse.urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            if self._proxy.username is not None:
                user = f"{self._proxy.username}:{self._proxy.password or ''}"
                word = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
                self._tunnel = {"Proxy-Authorization": f"Basic {word}"}
            if self._kind is _Connection:
                # A proxy for plain HTTP is told the whole URL.
                self._prefix = base_url
        self._idle: list[tuple[_Connection, float, int]] = []
        self._lock = threading.Lock()

    def ask(
        self, verb: str, path: str, body: Optional[bytes], headers: Mapping[str, str], timeout: float
    ) -> tuple[_Connection, http.client.HTTPResponse]:
        """The connection and its response. Asks once more, on a new connection, if one that waited breaks before it answers."""
        if self._proxy is not None and self._kind is _Connection:
            headers = {**headers, **self._tunnel}
        kept = self._waiting()
        connection = kept or self._connect()
        while True:
            connection.timeout = timeout
            try:
                if connection.sock is not None:
                    connection.sock.settimeout(timeout)
                connection.request(verb, self._prefix + path, body, headers)
                return connection, connection.getresponse()
            except BaseException as broken:
                connection.close()
                is_broken = isinstance(broken, OSError) and not isinstance(broken, TimeoutError)
                if connection is not kept or connection.was_cut or not is_broken:
                    raise
            connection = self._connect()

    def give_back(self, connection: _Connection, response: http.client.HTTPResponse) -> None:
        """Takes back a connection; closes it unless its answer was read to its end. After a hint (103) the answer is still to come."""
        if response.status < 200 or not response.isclosed() or response.length or response.will_close or connection.was_cut:
            response.close()
            connection.close()
            return
        with self._lock:
            self._idle.append((connection, time.monotonic(), os.getpid()))

    def _waiting(self) -> Optional[_Connection]:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, since, process = self._idle.pop()
            # A forked process has its parent's connections too: answers would go to whichever reads first.
            is_own = process == os.getpid() and time.monotonic() - since < IDLE
            if is_own and connection.sock is not None and not _is_readable(connection.sock):
                return connection
            connection.close()

    def _connect(self) -> _Connection:
        if self._proxy is None:
            return self._kind(self._host, self._port)
        connection = self._kind(self._proxy.hostname or "", self._proxy.port or 80)
        if self._kind is _SecureConnection:
            connection.set_tunnel(self._host, self._port, self._tunnel)
        return connection


def _is_readable(sock: Any) -> bool:
    """True if something has arrived that nobody asked for, such as the end of the connection. TLS may hold it already."""
    if hasattr(sock, "pending") and sock.pending():
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


class Transport:
    """Sends calls to one service. Follows no redirect: the API key would go with it, to whoever it names."""

    def __init__(self, base_url: str, api_key: str = ""):
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self._connections = _Connections(self.base_url)

    @staticmethod
    def _part(part: str) -> str:
        return urllib.parse.quote(part, safe="")

    @contextlib.contextmanager
    def _open(
        self, verb: str, path: str, body: Any, query: Optional[Mapping[str, Any]], timeout: float
    ) -> Iterator[http.client.HTTPResponse]:
        given = {name: _in_query(value) for name, value in (query or {}).items() if value is not None}
        if given:
            path += "?" + urllib.parse.urlencode(given, doseq=True)
        headers = {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.api_key:
            headers["Authorization"] = f"Bearer {_key_of(self.api_key)}"
        data = None if body is None else json.dumps(body).encode()
        try:
            connection, response = self._connections.ask(verb, path, data, headers, timeout)
        except http.client.HTTPException as cut:
            raise ConnectionError("the answer was cut, or is not the service's") from cut
        try:
            if not 200 <= response.status < 300:
                until = time.monotonic() + TIMEOUT
                with _cut_at(until, response, LATE):
                    rest = _rest_of(response, until)
                raise TradewireError(response.status, _parsed(rest))
            yield response
        finally:
            self._connections.give_back(connection, response)

    def call(self, verb: str, path: str, body: Any = None, query: Optional[Mapping[str, Any]] = None) -> Any:
        until = time.monotonic() + TIMEOUT
        with self._open(verb, path, body, query, TIMEOUT) as response, _cut_at(until, response, LATE):
            try:
                envelope = json.loads(_read(response, until))
                if envelope["success"] is not True or not isinstance(envelope["data"], dict):
                    raise ValueError("the answer is no success")
                return envelope["data"]
            except (http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError) as cut:
                raise ConnectionError("the answer was cut, or is not the service's") from cut

    def stream(
        self, verb: str, path: str, query: Optional[Mapping[str, Any]] = None, seconds: Optional[float] = None
    ) -> Iterator[Any]:
        """The messages of server-sent events until they end. Closing the iterator closes the stream.

        `seconds`: raises TimeoutError that long after the first message was asked for, however quiet the stream is.
        """
        until = None if seconds is None else time.monotonic() + seconds
        with self._open(verb, path, None, query, min(TIMEOUT, seconds or TIMEOUT)) as response, _cut_at(until, response, OVER):
            event = ""
            try:
                while line := response.readline(MOST_BYTES + 1):
                    if len(line) > MOST_BYTES:
                        raise ConnectionError("a message of the stream is too long")
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    if name == "event":
                        event = value
                    elif name == "data" and event == "end":
                        return
                    elif name == "data" and event == "error":
                        raise TradewireError(response.status, _parsed(value))
                    elif name == "data":
                        yield json.loads(value)
            except (http.client.HTTPException, ValueError, RecursionError) as cut:
                raise ConnectionError("the stream was cut: open it again") from cut
            raise ConnectionError("the stream was cut: open it again")


@contextlib.contextmanager
def _cut_at(until: Optional[float], response: Any, why: str) -> Iterator[None]:
    """Ends the connection of a response at a time by the monotonic clock in seconds. A read then ends with TimeoutError, which says why.

    The time-out of a socket bounds one read of it: of a chunk's head, or of what follows the last chunk, a byte at a time would do.
    """
    if until is None:
        yield
        return
    connection = socket.fromfd(response.fileno(), socket.AF_INET, socket.SOCK_STREAM)

    def cut() -> None:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0, until - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except OSError as ended:
        if time.monotonic() >= until:
            raise TimeoutError(why) from ended
        raise
    finally:
        timer.cancel()
        connection.close()


def _read(response: Any, until: float) -> bytes:
    """The whole body. Raises TimeoutError after `until`, by the monotonic clock in seconds, and ValueError if it is too long."""
    body = bytearray()
    while part := response.read1(1 << 16):
        body += part
        if len(body) > MOST_BYTES:
            raise ValueError("the answer is too long")
        if time.monotonic() > until:
            raise TimeoutError(LATE)
    if response.length:
        raise http.client.IncompleteRead(bytes(body), response.length)
    response.read()  # Nothing is left: it only marks the answer as read, so that its connection may take another call.
    return bytes(body)


def _rest_of(response: Any, until: float) -> bytes:
    try:
        return _read(response, until)
    except http.client.IncompleteRead as cut:
        return cut.partial
    except (http.client.HTTPException, ValueError, OSError):
        return b""


def _printable(text: Any) -> str:
    """Text of the service, cut, without characters that write to a terminal or reorder text: a traceback prints it as it is."""
    return "".join(each if each.isprintable() else " " for each in str(text)[:MOST_CHARACTERS])


def _key_of(text: str) -> str:
    """The key without the line end of its file. Raises ValueError, without the key, if it is none: Python would repeat it."""
    key = text.strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("the API key holds a character that no header can carry: is there more in it than the key?")
    return key


def _in_query(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _parsed(text: bytes | str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
