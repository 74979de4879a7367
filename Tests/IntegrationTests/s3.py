"""A strict store that speaks as much of S3's protocol as a lake needs, in a folder: it checks each signature, knows
`If-None-Match`, gives short pages, and does harm where a test says so."""
import hashlib
import hmac
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

ID, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-central-1"
PAGE = 2  # names on a page of a list: even a short lake has several


def signature(method, target, headers, body, names):
    """As docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html says, from what was received."""
    url = urlsplit(target)
    query = sorted(parse_qsl(url.query, keep_blank_values=True))
    canonical = "\n".join([
        method, quote(unquote(url.path), safe="/-._~"),
        "&".join(f"{quote(name, safe='-._~')}={quote(value, safe='-._~')}" for name, value in query),
        *(f"{name}:{' '.join(headers[name].split())}" for name in names), "", ";".join(names),
        hashlib.sha256(body).hexdigest()])
    stamp = headers["x-amz-date"]
    scope = [stamp[:8], REGION, "s3", "aws4_request"]
    text = "\n".join([
        "AWS4-HMAC-SHA256", stamp, "/".join(scope), hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{SECRET}".encode()
    for word in scope:
        key = hmac.digest(key, word.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex(), "/".join(scope)


def is_signed(method, target, headers, body):
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\S+?),\s*SignedHeaders=([a-z0-9;-]+),\s*Signature=([0-9a-f]{64})",
        headers.get("Authorization", ""))
    if not found or found[1] != ID or headers.get("x-amz-content-sha256") != hashlib.sha256(body).hexdigest():
        return False
    names = found[3].split(";")
    needed = {"host", "x-amz-content-sha256", "x-amz-date"} | ({"if-none-match"} & {name.lower() for name in headers})
    if names != sorted(names) or not needed <= set(names) or any(name not in headers for name in names):
        return False
    age = time.time() - time.mktime(time.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")) + time.timezone
    expected, scope = signature(method, target, headers, body, names)
    return abs(age) < 900 and found[2] == scope and hmac.compare_digest(found[4], expected)


class Store:
    """Buckets are folders in `folder`. `harm[n]` is done at the nth request to put something, from 1:

    - `"before"`: the client is killed, and nothing is put.
    - `"after"`: it is put, and the client is killed.
    - `"lost"`: it is put, and nobody hears of it.
    - `"busy"`: there is no time for it.
    - a function: called before it is put.
    """

    def __init__(self, folder, replaces=False, checks=True):
        self.folder, self.replaces, self.checks = folder, replaces, checks
        self.harm, self.puts, self.victim, self.known = {}, 0, None, threading.Event()
        self.refused, self.lock = 0, threading.Lock()
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body=b"", code=None):
                body = f"<Error><Code>{code}</Code></Error>".encode() if code else body
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def hang_up(self):
                self.close_connection = True

            def received(self):
                """The body of a request that is signed."""
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if not store.checks or is_signed(self.command, self.path, self.headers, body):
                    return body
                store.refused += 1
                self.answer(403, code="SignatureDoesNotMatch")

            def do_GET(self):
                if self.received() is None:
                    return
                url = urlsplit(self.path)
                query, path = dict(parse_qsl(url.query)), unquote(url.path).lstrip("/")
                if query.get("list-type") == "2":
                    return self.answer(200, store.page(path.rstrip("/"), query))
                file = store.folder / path
                if not file.is_file():
                    return self.answer(404, code="NoSuchKey")
                self.answer(200, file.read_bytes())

            def do_PUT(self):
                body = self.received()
                if body is None:
                    return
                with store.lock:
                    store.puts += 1
                    harm = store.harm.get(store.puts)
                if harm == "busy":
                    return self.answer(503, code="SlowDown")
                if harm == "before":
                    store.kill()
                    return self.hang_up()
                if callable(harm):
                    harm()
                file = store.folder / unquote(self.path).lstrip("/")
                with store.lock:
                    is_kept = file.exists() and not store.replaces and self.headers.get("If-None-Match") == "*"
                    if not is_kept:
                        file.parent.mkdir(parents=True, exist_ok=True)
                        file.write_bytes(body)
                if harm == "after":
                    store.kill()
                if harm in ("after", "lost"):
                    return self.hang_up()
                if is_kept:
                    return self.answer(412, code="PreconditionFailed")
                self.answer(200)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A client that was killed, or has heard enough, is no fault of ours.
        self.server.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def page(self, bucket, query):
        prefix, after = query.get("prefix", ""), query.get("start-after", "")
        root = self.folder / bucket
        keys = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
        keys = [key for key in keys if key.startswith(prefix) and key > after]
        contents = "".join(f"<Contents><Key>{escape(key)}</Key></Contents>" for key in keys[:PAGE])
        is_cut = "true" if len(keys) > PAGE else "false"
        return f"<ListBucketResult><IsTruncated>{is_cut}</IsTruncated>{contents}</ListBucketResult>".encode()

    def kill(self):
        """The client that a test has named, or is about to."""
        assert self.known.wait(60), "a test names whom to kill"
        self.victim.kill()
        self.victim.wait(60)

    @property
    def environment(self):
        return {
            "AWS_ENDPOINT_URL": self.url, "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": ""}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
