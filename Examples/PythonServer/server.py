"""A backend for notes, which takes part in the transactions of its clients: `python3 server.py --collector URL`."""

import argparse
import json
import logging
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import deliver
import waybill

SOURCE = {"app": "notes-server", "app_version": "1.0.0"}
# The clients use the same codes, here Examples/CommandLineTool.
SYNC = 7
SERVER_STARTED = {"event": 10, "name": "serverStarted"}
NOTES_READ = {"event": 11, "name": "notesRead"}

NOTES = {"shopping": "bread, cheese", "ideas": "write less code"}


class NotesHandler(BaseHTTPRequestHandler):
    undelivered: Path

    def do_GET(self) -> None:
        # Two fields, joined by a comma, are malformed.
        field = ", ".join(self.headers.get_all("Waybill-Transaction", []))
        path = urlsplit(self.path).path
        with waybill.join(field, "GET", path, SOURCE, {SYNC}, self.undelivered) as (record, response):
            record("event", **SERVER_STARTED)
            if path == "/notes":
                record("event", **NOTES_READ, attributes={"count": len(NOTES)})
                status, body = 200, json.dumps(NOTES).encode()
            else:
                status, body = 404, b'{"error": "Not found. Try /notes."}'
            response.update(status=status, sent_bytes=0, received_bytes=len(body))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


class NotesServer(ThreadingHTTPServer):
    daemon_threads = False  # Finish requests in progress before the server ends.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="0 for any free port")
    parser.add_argument("--collector", required=True, metavar="URL")
    parser.add_argument("--token-file", type=Path, help="a file with the collector's token")
    parser.add_argument("--undelivered", type=Path, default=Path("undelivered"), metavar="FOLDER",
                        help="keeps sets until they are delivered")
    arguments = parser.parse_args()
    logging.basicConfig(format="%(message)s")

    headers = {"Content-Type": "application/vnd.waybill.transaction-set.v1+json"}
    if arguments.token_file:
        headers["Authorization"] = f"Bearer {arguments.token_file.read_text().strip()}"
    folder = NotesHandler.undelivered = arguments.undelivered
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    ended = threading.Event()
    threading.Thread(target=deliver.deliver, args=(folder, arguments.collector, headers, ended)).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with NotesServer(("127.0.0.1", arguments.port), NotesHandler) as server:
            print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
            server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        ended.set()


if __name__ == "__main__":
    main()
