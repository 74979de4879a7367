"""A backend that has notes, and takes part in the transactions of its clients: `python3 server.py --collector http://127.0.0.1:8477`."""

import argparse
import json
import logging
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from waybill import FIELD_NAME, Delivery, Recorder

# The codes are shared with the clients, here with Examples/CommandLineTool.
SYNC = 7
SERVER_STARTED, NOTES_READ = 10, 11
NAMES = {SYNC: ("sync", {SERVER_STARTED: "serverStarted", NOTES_READ: "notesRead"})}

NOTES = {"shopping": "bread, cheese", "ideas": "write less code"}


class NotesHandler(BaseHTTPRequestHandler):
    recorder: Recorder

    def do_GET(self) -> None:
        # A field that comes twice is no Item: joined, it is malformed, and ignored.
        fields = self.headers.get_all(FIELD_NAME)
        path = urlsplit(self.path).path
        with self.recorder.join(", ".join(fields) if fields else None, SYNC, "GET", path) as part:
            part.log(SERVER_STARTED)
            if path == "/notes":
                part.log(NOTES_READ, count=len(NOTES))
                status, body = 200, json.dumps(NOTES).encode()
            else:
                status, body = 404, b'{"error": "There is no such thing here."}'
            part.answered(status, request_bytes=0, response_bytes=len(body))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


class NotesServer(ThreadingHTTPServer):
    daemon_threads = False  # requests in flight finish before it ends


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="0: any that is free")
    parser.add_argument("--collector", required=True, metavar="URL")
    parser.add_argument("--token-file", type=Path, help="the collector's token")
    parser.add_argument("--undelivered", type=Path, metavar="FOLDER", help="where to leave what no collector took before the end")
    arguments = parser.parse_args()
    logging.basicConfig(format="%(name)s: %(message)s")

    recorder = NotesHandler.recorder = Recorder("notes-server", "1.0.0", NAMES)
    token = arguments.token_file.read_text().strip() if arguments.token_file else None
    delivery = Delivery(recorder, arguments.collector, token)
    delivery.start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with NotesServer(("127.0.0.1", arguments.port), NotesHandler) as server:
            print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
            server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        delivery.close(arguments.undelivered)


if __name__ == "__main__":
    main()
