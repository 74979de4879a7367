"""A collector from outside, as the open internet would: hostile requests, each with the answer it must get, and within
the memory that they may take. On loopback alone, and bounded."""
import gzip
import json
import resource
import select
import socket
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attacks import often
from sets import APP, Recorder, guid
from waybill import MEDIA_TYPE, TIMEOUT

MEMORY_CEILING = 150 << 20
HEAD_SECONDS, BODY_SECONDS, FACTS = 2, 3, 10_000
KIND = f"Content-Type: {MEDIA_TYPE}"


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(
        tmp_path_factory.mktemp("hostile"), "--header-seconds", str(HEAD_SECONDS), "--body-seconds", str(BODY_SECONDS),
        "--idle-seconds", "20", "--max-transaction-facts", str(FACTS), roles=["ingest"])


@pytest.fixture(autouse=True)
def bounded(collector):
    """Whatever a test does, memory stays below the ceiling, and the collector answers afterwards."""
    Path(f"/proc/{collector.process.pid}/clear_refs").write_text("5")  # proc(5): the peak is forgotten
    yield
    assert collector.memory("VmHWM") < MEMORY_CEILING
    assert is_alive(collector)


def connect(collector):
    host, port = collector.address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=TIMEOUT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def head(collector, *fields, method="POST", path="/v1/sets"):
    authorization = f"Authorization: Bearer {collector.tokens['ingest']}"
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", authorization, *fields, "", ""]).encode()


def send(connection, data):
    try:
        connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it has answered, and hung up


def answer(connection):
    """Status and body; status 0 where the connection was closed without one."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return 0, data
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        fields = [line.lower().split(b":") for line in head.split(b"\r\n")[1:]]
        lengths = [int(value[0]) for name, *value in fields if name == b"content-length"]
        while lengths and len(body) < lengths[0] and (piece := connection.recv(65536)):
            body += piece
    except (ConnectionResetError, socket.timeout):
        return (int(data.split()[1]), b"") if b"\r\n\r\n" in data else (0, b"")
    return int(head.split()[1]), body


def post(collector, body, *fields):
    with connect(collector) as connection:
        send(connection, head(collector, KIND, f"Content-Length: {len(body)}", *fields) + body)
        return answer(connection)


def is_alive(collector):
    with connect(collector) as connection:
        send(connection, head(collector, method="GET", path="/v1/ready"))
        return answer(connection)[0] == 200


def make_set(events, transaction=None, text=""):
    """A set of a source of its own: one transaction."""
    recorder = Recorder(APP | {"app": "hostile"}, 1_772_366_400_000_000, {})
    recorder.open(0, transaction or guid(), 0)
    for number in range(events):
        recorder.add(number + 1, "event", event=number, attributes={"text": text})
    return recorder.set()


def encoded(value):
    return json.dumps(value).encode()


GOOD = encoded(make_set(3))
FACT = b'"sequence": 2'
assert FACT in GOOD and b"hostile" in GOOD
TWICE = encoded({"set": guid(), "sources": make_set(1)["sources"] * 2})
BODIES = {
    "a set": (GOOD, {200}),
    "10,000 levels of nesting": (b'{"x":' + b"[" * 10_000 + b"]" * 10_000 + b"}", {400}),
    "a million levels of nesting": (b"[" * 1_000_000, {400}),
    "invalid UTF-8": (GOOD.replace(b"hostile", b"\xff\xfe\xc0\xaf"), {400}),
    "an overlong encoding": (GOOD.replace(b"hostile", b"\xc0\x80"), {400}),
    "a lone surrogate": (GOOD.replace(b"hostile", b"\\ud800"), {400, 422}),
    "NaN": (GOOD.replace(FACT, b'"sequence": NaN'), {400}),
    "Infinity": (GOOD.replace(FACT, b'"sequence": -Infinity'), {400}),
    "a number of 400 digits": (GOOD.replace(FACT, b'"sequence": ' + b"9" * 400), {200}),
    "1e999": (GOOD.replace(FACT, b'"sequence": 1e999'), {200, 400}),
    "a name with a zero byte": (GOOD.replace(b"hostile", b"\\u0000"), {200, 422}),
    "duplicate keys": (GOOD[:-1] + b', "set": "' + str(uuid.uuid4()).encode() + b'"}', {200, 400, 422}),
    "the same source twice": (TWICE, {422}),
    "an empty body": (b"", {400}),
    "a string of 4 MB": (encoded(make_set(1, text="x" * (4 << 20))), {200}),
    "more than the limit": (b" " * ((8 << 20) + 1), {413}),
    "not gzip": (GOOD, {400}, "Content-Encoding: gzip"),
    "half of a gzip": (gzip.compress(GOOD)[:-10], {400}, "Content-Encoding: gzip"),
    "a gzip bomb of 1 GB": (gzip.compress(b" " * (64 << 20)) * 16, {413}, "Content-Encoding: gzip"),
    "an unknown coding": (GOOD, {415}, "Content-Encoding: br"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_no_honest_set_gets_its_answer(name, collector):
    body, statuses, *fields = BODIES[name]
    status, text = post(collector, body, *fields)
    assert status in statuses
    if name in ("a number of 400 digits", "a string of 4 MB"):
        assert len(json.loads(text)["rejected"]) == 1, "the fact alone is rejected"


CHUNKED = f"{len(GOOD):x}\r\n".encode() + GOOD + b"\r\n0\r\n\r\n"
LENGTH = f"Content-Length: {len(GOOD)}"
SMUGGLED = b"GET /v1/transactions HTTP/1.1\r\nHost: x\r\n\r\n"
FRAMINGS = {
    "both lengths": ([LENGTH, "Transfer-Encoding: chunked"], CHUNKED, {0, 400, 200}),
    "two lengths": ([LENGTH, "Content-Length: 5"], GOOD, {0, 400}),
    "a length with a sign": ([f"Content-Length: +{len(GOOD)}"], GOOD, {0, 400}),
    "a length below zero": (["Content-Length: -1"], GOOD, {0, 400}),
    "a length of 30 digits": (["Content-Length: " + "9" * 30], GOOD, {0, 400, 413}),
    "an unknown transfer coding": (["Transfer-Encoding: xchunked"], CHUNKED, {0, 400, 501}),
    "chunked, not last": (["Transfer-Encoding: chunked, identity"], CHUNKED, {0, 400, 501}),
    "a space before the colon": (["Transfer-Encoding : chunked", "Content-Length: 0"], CHUNKED, {0, 400}),
    "a folded field": (["X-A: b\r\n c", LENGTH], GOOD, {0, 200, 400}),
    "a bad chunk length": (["Transfer-Encoding: chunked"], b"zz\r\n", {0, 400}),
    "a chunk of 2^64 bytes": (["Transfer-Encoding: chunked"], b"ffffffffffffffff0\r\nx\r\n", {0, 400}),
    "a head of 1 MB": (["X-A: " + "a" * (1 << 20)], b"", {0, 400, 431}),
    "10,000 fields": ([f"X-{number}: a" for number in range(10_000)], b"", {0, 400, 431}),
    "no HTTP at all": (None, b"\x16\x03\x01\x02\x00" * 100 + b"\r\n\r\n", {0, 400}),
    "a stated length of 1 GB": (["Content-Length: 1000000000"], b"", {413}),
}


@pytest.mark.parametrize("name", FRAMINGS)
def test_what_two_servers_could_read_differently_is_refused_and_never_read_as_a_second_request(name, collector):
    fields, body, statuses = FRAMINGS[name]
    data = b"" if fields is None else head(collector, KIND, *fields)
    with connect(collector) as connection:
        send(connection, data + body + (SMUGGLED if "length" in name or "chunked" in name else b""))
        status, _ = answer(connection)
        assert status in statuses
        if status == 200 and "lengths" in name:
            # RFC 9112, section 6.3: a server that takes such a message closes the connection after it.
            assert answer(connection)[0] in (0, 400, 401), "nothing behind it is a request"


@pytest.mark.parametrize("what, expected", [("head", 0), ("body", 408), ("silence", 0)])
def test_what_trickles_or_says_nothing_is_cut_off(what, expected, collector):
    start = {"head": b"POST /v1/sets HTTP/1.1\r\n", "body": head(collector, KIND, LENGTH), "silence": b""}[what]
    with connect(collector) as connection:
        send(connection, start)
        for byte in {"head": b"X" * 100, "body": GOOD[:100], "silence": b""}[what]:
            send(connection, bytes([byte]))
            if select.select([connection], [], [], 0.1)[0]:
                break
        assert answer(connection)[0] == expected


def test_thousands_of_idle_connections_do_not_keep_others_out(collector):
    wanted = 10_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 200), hard))
    host, port = collector.address.split(":")
    idle = []
    try:
        for _ in range(wanted):
            idle.append(connection := socket.socket())
            connection.setblocking(False)
            connection.connect_ex((host, int(port)))  # those beyond the system's queue wait, or are refused
        assert is_alive(collector)
    finally:
        for connection in idle:
            connection.close()


def test_a_flood_of_facts_on_one_transaction_ends_at_its_limit(collector, attack):
    transaction, owner = guid(), Recorder(APP, 1_772_366_400_000_000, {})
    owner.open(0, transaction, 0)
    for number in range(5):
        owner.add(number + 1, "event", event=number)
    with attack(collector, "a flood of facts on one transaction") as tried:
        assert json.loads(post(collector, encoded(owner.set()))[1])["accepted"] == 6
        verdicts = []
        for _ in range(5):
            verdicts.append(json.loads(post(collector, encoded(make_set(4_000, transaction)))[1]))
            tried.count += 1
        accepted = 6 + sum(verdict["accepted"] for verdict in verdicts)
        assert accepted == FACTS - FACTS // 16, "what is left is for the source that began it"
        assert "takes no more" in verdicts[-1]["rejected"][0]["reason"]
        owner.forget()
        for number in range(100):
            owner.add(number + 10, "event", event=number)
        owner.add(1_000, "finished", outcome="succeeded")
        assert json.loads(post(collector, encoded(owner.set()))[1])["accepted"] == 101, "it is finished all the same"
        tried.held = f"{accepted} facts of 20011 were taken, and every other one rejected by itself"


@pytest.mark.parametrize("hosts", [[], ["127.0.0.1", "127.0.0.1"], ["127.0.0.1", "evil.example"]])
def test_a_request_without_a_host_or_with_two_is_refused(hosts, collector):
    """RFC 9112, section 3.2: a proxy before the collector might go by the other one."""
    lines = ["GET /v1/health HTTP/1.1", *(f"Host: {host}" for host in hosts), "", ""]
    with connect(collector) as connection:
        send(connection, "\r\n".join(lines).encode())
        status, body = answer(connection)
    assert status == 400 and b"Host" in body


def test_who_waits_to_be_asked_for_the_body_is_asked_where_the_token_is_known(collector):
    """RFC 9110, section 10.1.1: curl waits a second for it with each larger body."""
    start = head(collector, KIND, f"Content-Length: {len(GOOD)}", "Expect: 100-continue")
    with connect(collector) as connection:
        send(connection, start)
        assert connection.recv(65536).startswith(b"HTTP/1.1 100")
        send(connection, GOOD)
        assert answer(connection)[0] == 200
    token = collector.tokens["ingest"].encode()
    with connect(collector) as connection:
        send(connection, start.replace(token, b"waybill_of_nobody_at_all_0123456789"))
        assert answer(connection)[0] == 401, "and nobody sends a body that is not read"


def test_64_connections_with_sets_of_2000_facts_are_answered(collector):
    template = make_set(2_000, text="as long as an attribute usually is")
    share = template["sources"][0]
    ids = template["set"], share["source"], share["facts"][0]["transaction"]
    template = encoded(template)

    def send_several(_):
        statuses = []
        with connect(collector) as connection:
            for _ in range(often(5)):
                body = template
                for id in ids:  # of a source of its own
                    body = body.replace(id.encode(), guid().encode())
                send(connection, head(collector, KIND, f"Content-Length: {len(body)}") + body)
                statuses.append(answer(connection)[0])
        return statuses

    with ThreadPoolExecutor(64) as pool:
        counts = Counter(status for statuses in pool.map(send_several, range(64)) for status in statuses)
    assert set(counts) <= {200, 503} and counts[200] > 0, counts
