"""What stands between a client and a server: takes a request whole, hands it on, and the answer back."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Forwarding(BaseHTTPRequestHandler):
    """One connection of a client; `relay` is called for each request, and says whether it was answered."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def relay(self):
        raise NotImplementedError

    def do_POST(self):
        try:
            self.close_connection = not self.relay()
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # a server that is down, or went away: so is its client's connection

    do_GET = do_DELETE = do_POST

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def ask(self, address, body):
        """The answer of a server, whole, and its body."""
        connection = http.client.HTTPConnection(address, timeout=60)
        fields = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        try:
            connection.request(self.command, self.path, body, fields)
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def reply(self, answer, body):
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


class Forwarder(ThreadingHTTPServer):
    """Listens at any free port of 127.0.0.1."""

    request_queue_size, daemon_threads = 128, True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass  # a client that went away

    def close(self):
        self.shutdown()
        self.server_close()
