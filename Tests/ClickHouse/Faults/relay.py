"""What stands between a door and a node of ClickHouse: it counts what writes, and does something at one of them."""

import http.client
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WRITES = (b"INSERT", b"ALTER", b"DELETE", b"UPDATE", b"OPTIMIZE")
PATIENCE = 60  # seconds until a write that is held goes on
LOSE = "lose"  # what `Watch.before` and `after` say where the answer is not to arrive


class Watch:
    """Sees every write of a door, whichever node it goes to; to be overridden."""

    def before(self, number):
        """The write has come, the `number`th from 1, and is not with the node yet."""

    def after(self, number):
        """The node has answered, and the door does not know it yet."""


class At(Watch):
    """Does something once, before or after a certain write, whose answer does not arrive."""

    def __init__(self, number, when, action):
        self.number, self.when, self.action, self.has_happened = number, when, action, False

    def before(self, number):
        return self.happen() if self.when == "before" and number == self.number else None

    def after(self, number):
        return self.happen() if self.when == "after" and number == self.number else None

    def happen(self):
        self.has_happened = True
        self.action()
        return LOSE


class Hold(Watch):
    """Keeps a certain write from its node while its door hangs, until both are let go."""

    def __init__(self, number, door):
        self.number, self.door, self.reached, self.gone = number, door, threading.Event(), threading.Event()

    def before(self, number):
        if number == self.number:
            self.door.pause()
            self.reached.set()
            self.gone.wait(PATIENCE)

    def let_go(self):
        self.gone.set()
        self.door.resume()


class Losing(Watch):
    """Loses answers of writes that were done, by chance."""

    def __init__(self, chance, share):
        self.chance, self.share, self.lost = chance, share, 0

    def after(self, number):
        if self.chance.random() < self.share:
            self.lost += 1
            return LOSE


class Relays:
    """One relay for each node, for one door."""

    def __init__(self, ports):
        self.watch, self.writes, self.lock = Watch(), 0, threading.Lock()
        self.servers = [self.serve(port) for port in ports]
        self.ports = [server.server_address[1] for server in self.servers]

    def set(self, watch):
        """From now on writes are counted from 1 again."""
        with self.lock:
            self.watch, self.writes = watch or Watch(), 0

    def count(self, query):
        if not query.lstrip().upper().startswith(WRITES):
            return None, None
        with self.lock:
            self.writes += 1
            return self.watch, self.writes

    def serve(self, port):
        relays = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def do_POST(self):
                try:
                    self.close_connection = not self.relay()
                except (OSError, http.client.HTTPException):
                    self.close_connection = True  # a node that is down, or went away: so is its door's connection

            do_GET = do_POST

            def relay(self):
                """Whether the answer was handed on."""
                body = self.body()
                parameters = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                watch, number = relays.count(parameters["query"][0].encode() if "query" in parameters else body[:200])
                if watch and watch.before(number) == LOSE:
                    return False
                connection = http.client.HTTPConnection("127.0.0.1", port)
                fields = {
                    name: value
                    for name, value in self.headers.items()
                    if name.lower() not in ("transfer-encoding", "content-length", "host")
                }
                try:
                    connection.request(self.command, self.path, body, fields)
                    answer = connection.getresponse()
                    whole = answer.read()
                finally:
                    connection.close()
                if watch and watch.after(number) == LOSE:
                    return False
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "content-length", "connection", "keep-alive"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(whole)))
                self.end_headers()
                self.wfile.write(whole)
                self.wfile.flush()
                return True

            def body(self):
                if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                pieces = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(pieces)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads, server.handle_error = True, lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
