"""A round-robin proxy of the demo: each request goes to the next collector, and to the one after it where that is gone.

In front of real collectors put nginx or the like: `Examples/Deploy/cluster/proxy.conf`.
"""

import http.client
import itertools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Proxy:
    """Listens on any free port of 127.0.0.1; `answered` counts requests by the address that answered them."""

    def __init__(self, addresses):
        self.addresses, self.answered, self.lock = addresses, dict.fromkeys(addresses, 0), threading.Lock()
        turns = itertools.count()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def relay(self):
                body = self.body()
                first = next(turns)
                for turn in range(len(proxy.addresses)):
                    address = proxy.addresses[(first + turn) % len(proxy.addresses)]
                    # A set may be sent twice, and nothing else here changes anything: so the next one may be asked.
                    if self.forward(address, body):
                        return
                self.send_error(502, "no collector answers")

            do_GET = do_POST = do_DELETE = relay

            def body(self):
                if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                pieces = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(pieces)

            def forward(self, address, body):
                connection = http.client.HTTPConnection(address, timeout=60)
                fields = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
                try:
                    connection.request(self.command, self.path, body, fields | {"Host": address})
                    answer = connection.getresponse()
                    whole = answer.read()
                except (OSError, http.client.HTTPException):
                    return False
                finally:
                    connection.close()
                with proxy.lock:
                    proxy.answered[address] += 1
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(whole)))
                self.end_headers()
                self.wfile.write(whole)
                self.wfile.flush()
                return True

        class Server(ThreadingHTTPServer):
            request_queue_size, daemon_threads = 128, True

            def handle_error(self, request, address):
                pass  # a client that went away

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
