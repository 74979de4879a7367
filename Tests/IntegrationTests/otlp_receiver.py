"""A strict receiver of OTLP/HTTP with JSON, which knows nothing of Waybill: PyPI `opentelemetry-proto` parses, and the
rules of https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding that protobuf's own JSON does not have are
checked before."""

import base64
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {
    "traceId": re.compile("[0-9a-f]{32}"), "spanId": re.compile("[0-9a-f]{16}"),
    "parentSpanId": re.compile("[0-9a-f]{16}")}
ENUMS = {"kind": range(0, 6), "code": range(0, 3)}
LONGS = {"startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "intValue"}


class Malformed(Exception):
    pass


def no_duplicates(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise Malformed("a member stands twice")
    return dict(pairs)


def checked(value, name=None):
    """The document with its IDs as protobuf's JSON wants bytes."""
    if isinstance(value, dict):
        return {key: checked(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return [checked(element, name) for element in value]
    if value is None:
        raise Malformed(f"{name} is null")
    if name in IDS:
        if not isinstance(value, str) or not IDS[name].fullmatch(value) or not int(value, 16):
            raise Malformed(f"{name} is {value!r}")
        return base64.b64encode(bytes.fromhex(value)).decode()
    if name in ENUMS and (type(value) is not int or value not in ENUMS[name]):
        raise Malformed(f"{name} is {value!r}")
    if name in LONGS and not (isinstance(value, str) and re.fullmatch("0|-?[1-9][0-9]*", value)):
        raise Malformed(f"{name} is {value!r}")
    return value


def parse(body):
    """A request as the message that it is."""
    try:
        document = json.loads(body.decode("utf-8", "strict"), object_pairs_hook=no_duplicates)
        return Parse(json.dumps(checked(document)), ExportTraceServiceRequest(), ignore_unknown_fields=False)
    except (ValueError, Exception) as error:
        raise Malformed(str(error)[:300]) from error


class Receiver:
    """On a port of 127.0.0.1 that the system picks. Turns the first request away, as one that is busy does."""

    def __init__(self):
        self.requests, self.faults, self.refused = [], [], 0
        lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    status, answer = receiver.take(self.path, self.headers.get("Content-Type"), body)
                self.send_response(status)
                if status == 503:
                    self.send_header("Retry-After", "1")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, content_type, body):
        if not self.refused:
            self.refused += 1
            return 503, b"{}"
        try:
            if path != "/v1/traces" or content_type != "application/json":
                raise Malformed(f"{content_type} for {path}")
            self.requests.append(parse(body))
            return 200, b"{}"
        except Malformed as fault:
            self.faults.append(str(fault))
            return 400, json.dumps({"code": 3, "message": str(fault)}).encode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
