"""Sets as recorders send them: logins as client and server tell them, purchases that wait for people, hostile texts."""
import random
import time
import uuid

APP = {
    "app": "com.example.shop", "app_version": "4.2.0 (1187)", "device": "iPhone17,1", "os": "iOS", "os_version": "18.5"}
SERVER = {"app": "login-server", "app_version": "2.8", "device": "x86_64", "os": "Linux", "os_version": "6.1"}
EVENTS = {
    (0, "login"): {
        0: "initiated", 1: "requestSent", 2: "responseReceived", 10: "serverStarted", 11: "serverAccepted",
        12: "serverRejected"},
    (1, "purchase"): {0: "cartShown", 1: "cardChosen", 2: "confirmed", 3: "receiptShown", 4: "cardDeclined"},
    (2, "sync"): {0: "itemMerged", 1: "conflict"},
}
DAY = 86_400_000_000
HOSTILE = [
    "<script>alert('hostile-0')</script>", "</script><script>alert('hostile-1')</script>",
    "</style></title></textarea></pre></details><img src=x onerror=alert('hostile-2')>",
    "\" onmouseover=\"alert('hostile-3')\" autofocus onfocus=\"alert('hostile-3')",
    "' onclick='alert(4)' hostile-4 `${alert(4)}`",
    "javascript:alert('hostile-5')", "<svg onload=alert('hostile-6')><use href='data:image/svg+xml,x'></svg>",
    "<base href=https://evil.example/><meta http-equiv=refresh content=0;url=https://evil.example/hostile-7>",
    "bidi \u202etxt.exe\u202c hostile-8", "{\"hostile-9\":\"</pre><script>alert(9)</script>\"}",
    "W" * 200 + "hostile-10",
]


def now():
    return time.time_ns() // 1000


def guid():
    """A UUIDv7 (RFC 9562) of now."""
    value = (now() // 1000 & (1 << 48) - 1) << 80 | random.getrandbits(80)
    return str(uuid.UUID(int=value & ~(0xF << 76) & ~(0x3 << 62) | 7 << 76 | 2 << 62))


def names(events):
    """What a set says of use cases and their events: `{(code, name): {code: name}}`."""
    cases = [{"use_case": code, "name": name} for code, name in events]
    return cases + [
        {"use_case": case, "event": code, "name": name}
        for (case, _), of in events.items() for code, name in of.items()]


class Recorder:
    """One source: facts in order, and the sets that carry them. Times are microseconds, `started` since 1970."""

    def __init__(self, about, started, events=EVENTS, id=None):
        self.id, self.about, self.started, self.names = id or guid(), about, started, names(events)
        # The secret that a library keeps; `None` for a client without one.
        self.proof = f"the secret of source {self.id}"
        self.clocks, self.facts, self.part, self.first = [{"at_us": 0, "offset_us": started}], [], 0, 1

    def add(self, at, kind, part=None, **members):
        """Adds a fact and returns its sequence. Its part defaults to the latest `begun` or `joined`."""
        sequence = self.first + len(self.facts)
        self.facts.append({"kind": kind, "sequence": sequence, "part": part or self.part, "at_us": at, **members})
        return sequence

    def open(self, at, transaction, use_case, joined=False, **members):
        self.part = self.first + len(self.facts)
        kind = "joined" if joined else "begun"
        return self.add(at, kind, transaction=transaction, use_case=use_case, timeout_us=DAY, **members)

    def request(
            self, at, end, path, status=200, method="GET", host="api.example.com", fields=(), state="completed",
            **members):
        opened = self.add(
            at, "exchange_begun", role="client", method=method, scheme="https", host=host, path=path,
            headers=[["Accept", "application/json"], *fields])
        closing = {"exchange": opened, "state": state, "sent_bytes": 58, "received_bytes": 212 + at % 9000}
        if state == "completed":
            closing |= {
                "status": status, "first_byte_us": at + (end - at) * 9 // 10,
                "headers": [["Content-Type", "application/json"]]}
        return opened, lambda: self.add(end, "exchange_finished", **closing, **members)

    def forget(self):
        """What was sent is not sent again; sequences go on."""
        self.first += len(self.facts)
        self.facts = []

    def set(self, facts=None, **members):
        """A set with all facts, or with those."""
        ledger = {
            "recorded": self.first + len(self.facts) - 1, "delivered": self.first - 1, "quarantined": 0,
            "pending": len(self.facts), "refused": 0}
        share = {
            "source": self.id, **self.about, "clocks": self.clocks, "names": self.names, "ledger": ledger,
            "facts": self.facts if facts is None else facts}
        if self.proof:
            share["source_proof"] = self.proof
        return {"set": guid(), "sources": [share | members]}


def login(app, server, at, is_right=True, later=0):
    """One login by both, from `at` of the client's clock, which began `later` than the server's."""
    transaction = guid()
    back = at + later
    app.open(at, transaction, 0, attributes={"variant": "B" if at % 3 else "A"})
    app.add(at + 400, "event", event=0)
    app.add(at + 9_000, "event", event=1)
    opened, close = app.request(at + 9_300, at + 48_000, "/login", 200 if is_right else 401, "POST")
    server.open(back + 21_000, transaction, 0, joined=True, cause={"source": app.id, "sequence": opened})
    server.add(back + 21_300, "event", event=10)
    server.add(back + 33_000, "event", **answered(is_right))
    server.add(back + 33_400, "finished", outcome="succeeded")
    close()
    app.add(at + 48_300, "event", event=2, attributes={"status": 200 if is_right else 401})
    app.add(at + 52_000, "finished", **ended(is_right))
    return transaction


def answered(is_right):
    return {"event": 11} if is_right else {"event": 12, "error": {"domain": "", "code": 1, "text": "wrong password"}}


def ended(is_right):
    error = {"domain": "LoginError", "code": 401}
    return {"outcome": "succeeded"} if is_right else {"outcome": "failed", "error": error}


def purchase(app, at, is_declined=False):
    """One in which somebody thought for a while, and a request failed."""
    transaction = guid()
    cart = '{"items":[{"sku":"A-1","count":2}],"currency":"EUR"}'
    app.open(at, transaction, 1, attributes={"cart": cart})
    app.request(at + 2_000, at + 85_000, "/cart")[1]()
    app.add(at + 86_000, "event", event=0)
    app.add(at + 4_200_000, "event", event=1)
    app.add(at + 9_800_000, "event", event=2)
    error = {"domain": "URLError", "code": -1001, "text": "The request timed out."}
    app.request(at + 9_801_000, at + 10_900_000, "/orders", method="POST", state="failed", error=error)[1]()
    app.request(at + 11_000_000, at + 11_240_000, "/orders", 201, "POST")[1]()
    app.add(at + 11_250_000, "event", event=4 if is_declined else 3)
    app.add(at + 11_260_000, "finished", outcome="cancelled" if is_declined else "succeeded")
    return transaction


def hostile(at):
    """A source of its own for every text, with the text wherever a set has one."""
    for index, text in enumerate(HOSTILE):
        source = Recorder({name: text for name in APP}, at + index * 1_000_000, {(90 + index, text): {0: text}})
        source.open(0, guid(), 90 + index, attributes={"plain": text, text[:60]: "value"})
        source.add(10, "event", event=0, attributes={"said": text}, error={"domain": text, "code": 1, "text": text})
        host, field = text.replace("/", "")[:200], ["X-Hostile", text]
        source.request(20, 900, "/" + text, 500, host=host, fields=[field])[1]()
        source.add(1000, "finished", outcome="failed", error={"domain": text, "code": 2, "text": text})
        yield source.set()


def large(at, events=2000, exchanges=500):
    """A transaction that is too long to be read, and must open all the same."""
    app = Recorder(APP, at)
    transaction = guid()
    app.open(0, transaction, 2)
    for index in range(events):
        app.add(1000 * index + 10, "event", event=0 if index % 50 else 1)
        if index % (events // exchanges) == 0:
            app.request(1000 * index + 20, 1000 * index + 900, f"/items/{index}", 200 if index % 7 else 404)[1]()
    app.add(1000 * events + 10, "finished", outcome="succeeded")
    return transaction, app.set()


def month(now):
    """Four weeks of logins by two versions of an app, of which the variant B is quicker and fails less."""
    chance = random.Random(7)
    started = now - 27 * DAY
    back = Recorder(SERVER, started)
    apps = [Recorder(APP | {"app_version": version}, started) for version in ("4.1.0 (1102)", "4.2.0 (1187)")]
    for day in range(27):
        count = chance.randint(4, 9) if day % 7 in (5, 6) else chance.randint(12, 24)
        for hour in sorted(chance.gauss(14, 3) % 24 for _ in range(count)):
            app = apps[chance.random() < day / 27]
            at = day * DAY + int(hour * 3_600_000_000)
            run(app, back, max(at, app.facts[-1]["at_us"] + 1_000_000 if app.facts else 0), chance, 10 <= day <= 12)
    return [source.set() for source in (*apps, back)]


def run(app, back, at, chance, is_bad_day):
    """One login, which may be given up before its request, or end with an error."""
    variant = chance.choice("AB")
    transaction = guid()
    app.open(at, transaction, 0, attributes={"variant": variant})
    app.add(at + 400, "event", event=0)
    typing = int(chance.lognormvariate(14.6, 0.7))
    if chance.random() < 0.07:
        app.add(at + typing, "finished", outcome="abandoned")
        return
    at += typing
    app.add(at, "event", event=1)
    means = (9.6, 11.0 if variant == "A" else 10.5, 9.4)
    (out, busy, home) = (int(chance.lognormvariate(mean, 0.6)) for mean in means)
    fails = chance.random() < (0.35 if is_bad_day else 0.12 if variant == "A" else 0.05)
    end = at + 300 + out + busy + home
    opened, close = app.request(at + 300, end, "/login", 401 if fails else 200, "POST")
    begun = max(at + 300 + out, back.facts[-1]["at_us"] + 1 if back.facts else 0)
    back.open(begun, transaction, 0, joined=True, cause={"source": app.id, "sequence": opened})
    back.add(begun + 100, "event", event=10)
    back.add(begun + busy - 100, "event", event=12 if fails else 11)
    back.add(begun + busy, "finished", outcome="succeeded")
    close()
    if chance.random() < 0.03:
        app.add(end + 500, "finished", outcome="cancelled")
        return
    app.add(end + 500, "event", event=2)
    error = {"domain": "URLError", "code": -1001}
    if chance.random() < 0.8:
        error = {"domain": "LoginError", "code": chance.choice([401, 401, 403])}
    app.add(end + 9_000, "finished", **({"outcome": "failed", "error": error} if fails else {"outcome": "succeeded"}))
