"""Sets for `check-inspector`: logins as a client and a server tell them, purchases that wait for people, hostile texts, and one transaction of everything."""
import json
import random
import time
import uuid

APP = {"app": "com.example.shop", "app_version": "4.2.0 (1187)", "device": "iPhone17,1", "os": "iOS", "os_version": "18.5"}
SERVER = {"app": "login-server", "app_version": "2.8", "device": "x86_64", "os": "Linux", "os_version": "6.1"}
NAMES = [
    {"use_case": 0, "name": "login"}, {"use_case": 0, "event": 0, "name": "initiated"}, {"use_case": 0, "event": 1, "name": "requestSent"},
    {"use_case": 0, "event": 2, "name": "responseReceived"}, {"use_case": 0, "event": 10, "name": "serverStarted"},
    {"use_case": 0, "event": 11, "name": "serverAccepted"}, {"use_case": 0, "event": 12, "name": "serverRejected"},
    {"use_case": 1, "name": "purchase"}, {"use_case": 1, "event": 0, "name": "cartShown"}, {"use_case": 1, "event": 1, "name": "cardChosen"},
    {"use_case": 1, "event": 2, "name": "confirmed"}, {"use_case": 1, "event": 3, "name": "receiptShown"}, {"use_case": 1, "event": 4, "name": "cardDeclined"},
    {"use_case": 2, "name": "sync"}, {"use_case": 2, "event": 0, "name": "itemMerged"}, {"use_case": 2, "event": 1, "name": "conflict"},
]
HOSTILE = [
    "<script>alert('hostile-0')</script>", "</script><script>alert('hostile-1')</script>",
    "</style></title></textarea></pre></details><img src=x onerror=alert('hostile-2')>",
    "\" onmouseover=\"alert('hostile-3')\" autofocus onfocus=\"alert('hostile-3')", "' onclick='alert(4)' hostile-4 `${alert(4)}`",
    "javascript:alert('hostile-5')", "<svg onload=alert('hostile-6')><use href='data:image/svg+xml,x'></svg>",
    "<base href=https://evil.example/><meta http-equiv=refresh content=0;url=https://evil.example/hostile-7>",
    "bidi \u202etxt.exe\u202c hostile-8", "{\"hostile-9\":\"</pre><script>alert(9)</script>\"}", "W" * 200 + "hostile-10",
]


def guid():
    """A UUIDv7 (RFC 9562) of now."""
    value = (int(time.time() * 1000) & (1 << 48) - 1) << 80 | random.getrandbits(80)
    return str(uuid.UUID(int=value & ~(0xF << 76) & ~(0x3 << 62) | 7 << 76 | 2 << 62))


class Recorder:
    """One source: facts in order, and the set that carries them."""

    def __init__(self, about, started):
        self.id, self.about, self.started, self.facts, self.part, self.first = guid(), about, started, [], 0, 1

    def add(self, at, kind, **members):
        self.facts.append({"kind": kind, "sequence": self.first + len(self.facts), "part": self.part, "at_us": at, **members})
        return self.first + len(self.facts) - 1

    def open(self, at, transaction, use_case, **members):
        self.part = self.first + len(self.facts)
        return self.add(at, "opened", transaction=transaction, use_case=use_case, timeout_us=86_400_000_000, **members)

    def request(self, at, end, path, status=200, method="GET", host="api.example.com", fields=(), state="completed", **members):
        opened = self.add(
            at, "exchange_opened", role="client", method=method, scheme="https", host=host, path=path,
            headers=[["Accept", "application/json"], *fields])
        closing = {"exchange": opened, "state": state, "sent_bytes": 58, "received_bytes": 212 + at % 9000}
        if state == "completed":
            closing |= {"status": status, "first_byte_us": at + (end - at) * 9 // 10, "headers": [["Content-Type", "application/json"]]}
        return opened, lambda: self.add(end, "exchange_closed", **closing, **members)

    def forget(self):
        """What was sent is not sent again; sequences go on."""
        self.first += len(self.facts)
        self.facts = []

    def set(self):
        share = {
            "source": self.id, **self.about, "clocks": [{"at_us": 0, "offset_us": self.started}], "names": NAMES, "facts": self.facts,
            "ledger": {
                "recorded": self.first + len(self.facts) - 1, "delivered": self.first - 1, "quarantined": 0, "pending": len(self.facts),
                "refused": 0,
            },
        }
        return {"set": guid(), "sources": [share]}


def login(app, server, at, is_right=True, later=0):
    """One login by both, from `at`, in microseconds of the client's clock, which began `later` than the server's."""
    transaction = guid()
    back = at + later
    app.open(at, transaction, 0, attributes={"variant": "B" if at % 3 else "A"})
    app.add(at + 400, "event", event=0)
    app.add(at + 9_000, "event", event=1)
    opened, close = app.request(at + 9_300, at + 48_000, "/login", 200 if is_right else 401, "POST")
    server.open(back + 21_000, transaction, 0, joined=True, cause={"source": app.id, "sequence": opened})
    server.add(back + 21_300, "event", event=10)
    server.add(back + 33_000, "event", **({"event": 11} if is_right else {"event": 12, "error": {"domain": "", "code": 1, "text": "wrong password"}}))
    server.add(back + 33_400, "closed", outcome="succeeded")
    close()
    app.add(at + 48_300, "event", event=2, attributes={"status": 200 if is_right else 401})
    app.add(at + 52_000, "closed", **({"outcome": "succeeded"} if is_right else {"outcome": "failed", "error": {"domain": "LoginError", "code": 401}}))
    return transaction


def purchase(app, at, is_declined=False):
    """One in which somebody thought for a while, and a request failed."""
    transaction = guid()
    app.open(at, transaction, 1, attributes={"cart": "{\"items\":[{\"sku\":\"A-1\",\"count\":2}],\"currency\":\"EUR\"}"})
    _, close = app.request(at + 2_000, at + 85_000, "/cart")
    close()
    app.add(at + 86_000, "event", event=0)
    app.add(at + 4_200_000, "event", event=1)
    app.add(at + 9_800_000, "event", event=2)
    _, close = app.request(
        at + 9_801_000, at + 10_900_000, "/orders", method="POST", state="failed",
        error={"domain": "URLError", "code": -1001, "text": "The request timed out."})
    close()
    _, close = app.request(at + 11_000_000, at + 11_240_000, "/orders", 201, "POST")
    close()
    app.add(at + 11_250_000, "event", event=4 if is_declined else 3)
    app.add(at + 11_260_000, "closed", outcome="canceled" if is_declined else "succeeded")
    return transaction


def hostile(at):
    """A source of its own for every text, with the text wherever a set has one."""
    sets = []
    for index, text in enumerate(HOSTILE):
        about = {name: text for name in APP}
        source = Recorder(about, at + index * 1_000_000)
        source.open(0, guid(), 90 + index, attributes={"plain": text, text[:60]: "value"})
        source.add(10, "event", event=0, attributes={"said": text}, error={"domain": text, "code": 1, "text": text})
        _, close = source.request(20, 900, "/" + text, 500, host=text.replace("/", "")[:200], fields=[["X-Hostile", text]])
        close()
        source.add(1000, "closed", outcome="failed", error={"domain": text, "code": 2, "text": text})
        body = source.set()
        body["sources"][0]["names"] = [{"use_case": 90 + index, "name": text}, {"use_case": 90 + index, "event": 0, "name": text}]
        sets.append(body)
    return sets


def large(at, events=2000, exchanges=500):
    """A transaction that nobody wants to read, and must open all the same."""
    app = Recorder(APP, at)
    transaction = guid()
    app.open(0, transaction, 2)
    for index in range(events):
        app.add(1000 * index + 10, "event", event=0 if index % 50 else 1)
        if index % (events // exchanges) == 0:
            _, close = app.request(1000 * index + 20, 1000 * index + 900, f"/items/{index}", 200 if index % 7 else 404)
            close()
    app.add(1000 * events + 10, "closed", outcome="succeeded")
    return transaction, app.set()


def encoded(body):
    return json.dumps(body).encode()
