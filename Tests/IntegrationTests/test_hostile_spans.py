"""Attacks by way of `POST /v1/traces`, with the ingest token of an app, which anybody can take out of it."""
import gzip
import http.client
import json
import random
import struct
import time
import uuid

import attacks
import pytest
from sets import guid, now
from waybill import TIMEOUT, WAYBILL, execute

PROTOBUF, JSON = "application/x-protobuf", "application/json"


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(tmp_path_factory.mktemp("hostile-spans"), roles=["ingest", "read", "admin"])


def post(collector, body, media_type=JSON, **fields):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    headers = {"Content-Type": media_type, "Authorization": f"Bearer {collector.tokens['ingest']}", **fields}
    try:
        connection.request("POST", "/v1/traces", body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def span(trace, **members):
    at = now() * 1000
    return {
        "traceId": uuid.UUID(trace).hex, "spanId": f"{random.getrandbits(63) + 1:016x}", "name": "a",
        "startTimeUnixNano": str(at), "endTimeUnixNano": str(at + 1000), **members}


def request(spans, **resource):
    attributes = [{"key": key.replace("_", "."), "value": {"stringValue": value}} for key, value in resource.items()]
    return json.dumps({"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": spans}]}]})


def field(number, content):
    """A field of Protocol Buffers that holds bytes."""
    length, encoded = len(content), b""
    while length > 0x7F:
        encoded += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([number << 3 | 2]) + encoded + bytes([length]) + content


def test_bodies_that_are_none_get_a_sentence_and_keep_nothing(collector, attack):
    with attack(collector, "bodies of spans that are none") as tried:
        chance = random.Random(1)
        whole = field(1, field(2, field(2, field(1, b"x" * 16) + field(2, b"y" * 8) + field(5, b"name"))))
        bodies = [whole[:cut] for cut in range(1, len(whole))] + [
            b"\xff" * 100, field(1, b"\xff" * 20), b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]
        bodies += [bytes(chance.randrange(256) for _ in range(chance.randrange(200))) for _ in range(attacks.often(200))]
        for body in bodies:
            status, answer = post(collector, body, PROTOBUF)
            assert status in (200, 400), (status, body)
            tried.count += 1
        for text in ["", "[]", "{", '{"resourceSpans": 1}', '{"resourceSpans": [[]]}', "[" * 100_000, '{"a":' * 100]:
            assert post(collector, text.encode())[0] in (400, 422), text[:50]
            tried.count += 1
        tried.held = "each got 400 or 422 with a sentence, or was a request without a span that could be read"


def test_a_value_that_holds_itself_very_often_is_cut_off(collector, attack):
    with attack(collector, "attributes that are nested 10,000 times") as tried:
        value = b""
        for _ in range(10_000):
            value = field(5, field(1, value))
        attribute = field(1, b"a") + field(2, value)
        at = struct.pack("<Q", now() * 1000)
        spans = field(2, field(1, uuid.UUID(guid()).bytes) + field(2, b"12345678") + b"\x39" + at + field(9, attribute))
        for _ in range(attacks.often(20)):
            assert post(collector, field(1, field(2, spans)), PROTOBUF)[0] == 200
            tried.count += 1
        tried.held = "the span was taken without the attribute"


def test_a_small_body_that_unpacks_to_a_large_one_is_refused(collector, attack):
    with attack(collector, "spans as a bomb of gzip") as tried:
        bomb = gzip.compress(b" " * (200 << 20), 9)
        for _ in range(attacks.often(8)):
            assert post(collector, bomb, **{"Content-Encoding": "gzip"})[0] == 413
            tried.count += 1
        tried.held = f"{len(bomb)} bytes that stand for 200 MB got 413"


def test_a_request_has_only_so_many_spans_and_resources(collector, attack):
    with attack(collector, "a million tiny spans, and a thousand resources too many") as tried:
        many = field(1, field(2, field(2, b"\x30\x01") * 1_000_000))
        assert post(collector, many, PROTOBUF)[0] == 413
        assert post(collector, field(1, b"") * 100_000, PROTOBUF)[0] == 413
        status, answer = post(collector, field(1, field(2, field(2, b"\x30\x01") * 40_000)), PROTOBUF)
        assert status == 200 and b"no trace ID" in answer
        tried.count, tried.held = 3, "413, and one that keeps the limit is answered: none of its spans can be read"


def test_spans_that_wait_for_others_that_never_come_are_bounded(collector, attack):
    with attack(collector, "spans that wait for one that never comes") as tried:
        for _ in range(attacks.often(8)):
            trace = guid()
            spans = [span(trace, parentSpanId=f"{number + 1:016x}", kind=1, flags=0x101) for number in range(5_000)]
            assert post(collector, request(spans, service_name="waiter"))[0] == 200
            tried.count += 1
        tried.held = "beyond 20,000 the others get a part of their own"


def test_nobody_adds_to_a_service_with_another_token_or_in_a_set(collector, attack):
    """The backend has a token of its own; who has the app's says to be the same service."""
    with attack(collector, "spans and sets under the name of another's service") as tried:
        own = execute(WAYBILL, "token", "add", collector.place, "--role", "ingest").stdout.strip()
        trace, name = guid(), {"service_name": "backend", "service_instance_id": "b1"}
        connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
        connection.request("POST", "/v1/traces", request([span(trace)], **name), {
            "Content-Type": JSON, "Authorization": f"Bearer {own}"})
        assert connection.getresponse().status == 200
        connection.close()

        def sources():
            connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
            connection.request(
                "GET", "/v1/sources?limit=500", headers={"Authorization": f"Bearer {collector.tokens['read']}"})
            rows = json.loads(connection.getresponse().read())["rows"]
            connection.close()
            return {row["id"]: row["ledger"]["recorded"] for row in rows if row["app"] == "backend"}

        (source, recorded), = sources().items()
        for _ in range(attacks.often(20)):
            assert post(collector, request([span(trace)], **name))[0] == 200
            tried.count += 1
        forged = {
            "source": source, "app": "backend", "app_version": "", "device": "", "os": "", "os_version": "",
            "clocks": [{"at_us": 0, "offset_us": 0}], "ended": True, "facts": [],
            "dropped": [{"first": 1, "last": 1 << 40, "reason": "erased"}], "source_proof": "x" * 64,
            "ledger": {"recorded": 1 << 40, "delivered": 0, "quarantined": 0, "pending": 0, "refused": 0}}
        receipt = collector.send({"set": guid(), "sources": [forged]})
        assert [refused["source"] for refused in receipt["refused"]] == [source]
        after = sources()
        assert after[source] == recorded and len(after) == 2
        tried.held = "they are a source of their own, and the set was refused"


def test_one_transaction_does_not_grow_without_end(collector, attack):
    with attack(collector, "spans into one transaction") as tried:
        trace, refused = guid(), 0
        for _ in range(5):
            spans = [span(trace, kind=2, parentSpanId="00000000000000aa") for _ in range(500)]
            answer = json.loads(post(collector, request(spans, service_name="many"))[1])
            refused += int(answer.get("partialSuccess", {}).get("rejectedSpans", 0))
            tried.count += 500
        assert refused == 1500
        tried.held = "it has 1,000 parts, and the others were refused"


@pytest.mark.parametrize("count", [200, 400, 800])
def test_services_that_ask_each_other_in_a_chain_do_not_block_the_project(count, collector, attack):
    """14 kB of gzip, each span of a service of its own and below the one before."""
    with attack(collector, f"a chain of {count} services in one request") as tried:
        longest = 0
        for _ in range(attacks.often(4)):
            trace, spans, above = guid(), [], None
            for number in range(count):
                below = {"parentSpanId": above, "flags": 0x301} if above else {}
                spans.append(span(trace, kind=2, **below))
                above = spans[-1]["spanId"]
            body = json.dumps({"resourceSpans": [
                {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": f"s{number}"}}]},
                 "scopeSpans": [{"spans": [one]}]} for number, one in enumerate(spans)]})
            begun = time.monotonic()
            status, answer = post(collector, gzip.compress(body.encode()), **{"Content-Encoding": "gzip"})
            longest = max(longest, time.monotonic() - begun)
            assert status == 200 and b"rejectedSpans" not in answer, answer
            tried.count += 1
        assert longest < attacks.INNOCENT_SECONDS
        tried.held = f"each was taken within {longest:.1f} s"
