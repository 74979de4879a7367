"""One ClickHouse of the current version: chDB, behind the part of ClickHouse's HTTP interface that a client uses.

It is ClickHouse's own engine, parser and storage; only HTTP is ours, after https://clickhouse.com/docs/interfaces/http.
No replication: there is no Keeper in chDB. Prints {"port", "version", "pid"}; ends once standard input does, or with
SIGTERM.
"""

import argparse
import base64
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import urllib.parse
import uuid
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import chdb

# chDB inserts in the background by default. Here an answer means that the rows are there.
BASE = {"async_insert": "0"}
# Parameters of the interface itself; every other one is a setting of the query.
OURS = {
    "query",
    "database",
    "user",
    "password",
    "default_format",
    "query_id",
    "quota_key",
    "session_id",
    "session_timeout",
    "session_check",
    "compress",
    "decompress",
    "buffer_size",
    "wait_end_of_query",
    "stacktrace",
    "role",
    "close_session",
}
# What has data behind its format: INSERT INTO t (a, b) SETTINGS c = 1 FORMAT RowBinary, one line feed at most, bytes.
INSERT = re.compile(
    rb"\s*(INSERT\s+INTO\s+[^()]+?(?:\([^()]*\))?(?:\s+SETTINGS\s+[^()]+?)?)\s*\bFORMAT\s+(\w+)[ \t;]*(?:\r?\n|$)", re.I
)
# Statements that change what the connection means by others; HTTP without a session forgets them at once.
STICKY = re.compile(rb"\s*(SET|USE)\b", re.I)
CODE = re.compile(r"Code: (\d+)\. ")

# `exceptionCodeToHTTPStatus` of ClickHouse, for the codes that a client can meet here.
STATUS = {
    403: [192, 193, 516],
    401: [194],
    413: [202],
    501: [48],
    400: [6, 26, 27, 38, 41, 43, 53, 62, 69, 70, 72, 117, 130, 131, 386, 456],
    404: [46, 47, 50, 56, 60, 63, 73, 81, 115],
}
STATUS_OF = {code: status for status, codes in STATUS.items() for code in codes}


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(f"Code: {code}. DB::Exception: {text}")


class Connection:
    """One of chDB's connections: it runs a statement at a time and keeps settings, so it is told what changed since."""

    def __init__(self, folder):
        self.chdb = chdb.connect(folder)
        self.settings, self.database = {}, "default"

    def prepare(self, database, settings):
        if database != self.database:
            self.chdb.query(f"USE `{database.replace('`', '')}`", "TSV")
            self.database = database
        for name in self.settings.keys() - settings.keys():
            self.chdb.query(f"SET {name} = DEFAULT", "TSV")
            del self.settings[name]
        for name, value in settings.items():
            if self.settings.get(name) == value:
                continue
            if not re.fullmatch(r"\w+", name):
                raise Refused(115, f"Unknown setting '{name}'. (UNKNOWN_SETTING)")
            quoted = value.replace("\\", "\\\\").replace("'", "\\'")
            self.chdb.query(f"SET {name} = '{quoted}'", "TSV")
            self.settings[name] = value

    def run(self, query, form):
        insert = INSERT.match(query)
        if not insert or re.search(rb"\bSELECT\b", insert[1], re.I):
            result = self.chdb.query(query, form)
            return result.bytes() or b""
        # Inserted as it is, bytes and all: the text of a query ends at certain bytes, a stream does not.
        inserter = self.chdb.send_insert(insert[1].decode(), insert[2].decode())
        try:
            inserter.append(query[insert.end() :])
            inserter.finish()
        except Exception:
            inserter.cancel()
            raise
        return b""


class Pool:
    """Connections that wait for work; as many as there were requests at once."""

    def __init__(self, folder):
        self.folder, self.idle, self.lock = folder, [], threading.Lock()

    def run(self, query, form, database, settings):
        with self.lock:
            connection = self.idle.pop() if self.idle else Connection(self.folder)
        keep = not STICKY.match(query)
        try:
            connection.prepare(database, {**BASE, **settings})
            return connection.run(query, form)
        except Exception:
            keep = False  # its settings may be half those of this query
            raise
        finally:
            if keep:
                with self.lock:
                    self.idle.append(connection)
            else:
                connection.chdb.close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True
    pool, users = None, {}

    def do_GET(self):
        if self.path == "/ping":
            return self.answer(200, b"Ok.\n")
        self.do_POST()

    def do_POST(self):
        try:
            body = self.body()
            parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
            self.authenticate(parameters)
            query = parameters.get("query", "").encode()
            # The interface puts a line between the parameter and the body, and lets either be all of it.
            query = query + b"\n" + body if query and body else query or body
            settings = {name: value for name, value in parameters.items() if name not in OURS}
            form = self.headers.get("X-ClickHouse-Format") or parameters.get("default_format", "TabSeparated")
            database = self.headers.get("X-ClickHouse-Database") or parameters.get("database", "default")
            self.answer(200, self.pool.run(query, form, database, settings))
        except ConnectionError:
            self.close_connection = True
        except Exception as error:
            found = CODE.search(str(error))
            code = int(found[1]) if found else 1002
            # chDB tells in front where the statement failed; a server does not.
            text = str(error)[found.start() :] if found else f"Code: {code}. DB::Exception: {error}"
            text = text if "(version " in text else f"{text} (version {VERSION})"
            self.answer(STATUS_OF.get(code, 500), f"{text}\n".encode(), {"X-ClickHouse-Exception-Code": str(code)})

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            body = b"".join(pieces)
        else:
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length)
            if len(body) < length:
                raise ConnectionError("the client went away before its last byte")
        if self.headers.get("Content-Encoding") in ("gzip", "deflate"):
            body = zlib.decompress(body, 47)
        return body

    def authenticate(self, parameters):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        basic = base64.b64decode(token).decode() if scheme == "Basic" else ""
        user, _, password = basic.partition(":")
        user = self.headers.get("X-ClickHouse-User") or parameters.get("user") or user or "default"
        password = self.headers.get("X-ClickHouse-Key") or parameters.get("password") or password
        if self.users.get(user) != password:
            raise Refused(
                516,
                f"{user}: Authentication failed: password is incorrect, or there is no user with such name. "
                "(AUTHENTICATION_FAILED)",
            )

    def answer(self, status, body, fields={}):
        self.send_response_only(status)
        self.send_header("X-ClickHouse-Query-Id", str(uuid.uuid4()))
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may go away at any moment
            super().handle_error(request, address)


def main():
    global VERSION
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folder", help="where the data stays; without it, a temporary folder")
    arguments.add_argument(
        "--user", action="append", default=[], metavar="NAME:PASSWORD", help="beside `default`, who has no password"
    )
    arguments = arguments.parse_args()
    folder = arguments.folder or tempfile.mkdtemp(prefix="clickhouse-")

    def end(*_):
        if not arguments.folder:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)  # what was acknowledged is on the disk; chDB's own end takes a second

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    Handler.users = {"default": "", **dict(user.split(":", 1) for user in arguments.user)}
    Handler.pool = Pool(folder)
    VERSION = Handler.pool.run(b"SELECT version()", "TSVRaw", "default", {}).decode().strip()
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1], "version": VERSION, "pid": os.getpid()}), flush=True)
    while sys.stdin.buffer.read(4096):
        pass
    end()


if __name__ == "__main__":
    main()
