import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from waybill.delivery import RECEIPT_TYPE


def receipt(sent: dict, **changes) -> dict:
    """What a collector answers that takes everything."""
    return {"set": sent["set"], "accepted": len(sent["sources"][0]["facts"]), "known": 0} | changes


class FakeCollector:
    """Keeps what is posted, and answers as it is told: `answer(set)` gives a receipt, or (status, type, body)."""

    def __init__(self, answer=receipt):
        self.answer = answer
        self.sets: list[dict] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                collector.sets.append(sent)
                answer = collector.answer(sent)
                if isinstance(answer, dict):
                    answer = (200, RECEIPT_TYPE, json.dumps(answer).encode())
                status, kind, body = answer
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
