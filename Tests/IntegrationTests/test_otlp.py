"""Thousands of generated transactions, and the demo's, as spans to a strict receiver of OTLP: it gets what stores have.

The names of attributes are looked up in PyPI `opentelemetry-semantic-conventions`. TRANSACTIONS=n, SEED=n make others.
"""
import json
import os
import random
import re
import shutil
import time
import uuid
from collections import Counter
from importlib import import_module
from pkgutil import iter_modules
from types import SimpleNamespace

import pytest
from otlp_receiver import Receiver, parse
from sets import Recorder
from waybill import WAYBILL, execute, in_sqlite, waybill

TRANSACTIONS = int(os.environ.get("TRANSACTIONS", "3000"))
SEED = int(os.environ.get("SEED", "20261121"))
REMOTE = 0x300
SECRET = "hunter2-must-not-leave"
INTERNAL, SERVER, CLIENT = 1, 2, 3
REQUIRED = {
    INTERNAL: {"waybill.outcome"}, SERVER: {"http.request.method", "url.path"},
    CLIENT: {"http.request.method", "url.full", "server.address", "server.port"}}

# What becomes of a store: a span for each closed part, and for each of its exchanges that ended; its events go with it.
COUNTS = """
    WITH closed AS (SELECT source, sequence FROM parts WHERE guid IS NOT NULL AND closed IS NOT NULL),
    ended AS (SELECT l.source, l.sequence FROM exchanges l
              JOIN closed p ON p.source = l.source AND p.sequence = l.part
              WHERE l.method IS NOT NULL AND l.closed IS NOT NULL)
    SELECT (SELECT count(*) FROM closed), (SELECT count(*) FROM ended),
           (SELECT count(*) FROM events e JOIN closed p ON p.source = e.source AND p.sequence = e.part),
           (SELECT count(*) FROM parts q JOIN closed USING (source, sequence) JOIN sources s ON s.uuid = q.cause_source
            JOIN ended e ON e.source = s.id AND e.sequence = q.cause WHERE q.joined)"""


class Source(Recorder):
    """A recorder whose clock goes on by chance."""

    def __init__(self, chance, app, os_name, start):
        self.chance, self.at = chance, 0
        about = {
            "app": app, "app_version": f"1.{chance.randrange(9)}", "os": os_name, "os_version": "18.5",
            "device": "iPhone17,1" if os_name == "iOS" else "x86_64",
            "attributes": {"deployment.environment.name": "test", "api_token": SECRET}}
        super().__init__(about, start, {(0, "login"): {1: "request \"sent\" \u2713"}}, uuid_of(chance))

    def tell(self, kind, part, **members):
        self.at += self.chance.randrange(1, 5000)
        return self.add(self.at, kind, part, **members)

    def begin(self, transaction, **members):
        self.at += self.chance.randrange(1, 5000)
        return self.open(self.at, transaction, 0, **members)

    def sets(self):
        """Of any length, some by a clock that was set meanwhile."""
        begun = 0
        while begun < len(self.facts):
            facts = self.facts[begun:begun + self.chance.randrange(1, 400)]
            clocks = [*self.clocks]
            if self.chance.random() < 0.2:
                offset = self.started - self.chance.randrange(3_600_000_000)
                clocks.append({"at_us": facts[0]["at_us"], "offset_us": offset})
            yield self.set(facts, clocks=clocks)
            begun += len(facts)


def uuid_of(chance):
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def error_of(chance):
    error = {"code": chance.randrange(-2000, 2000)}
    if chance.random() < 0.7:
        error["domain"] = "NSURLErrorDomain"
    if chance.random() < 0.5:
        error["text"] = f"Zeit l\u00e4uft \U0001F600\npassword={SECRET}"
    return error


def attributes_of(chance):
    values = {
        "variant": "B", "count": 2**53 - 1, "ratio": 0.25, "whole": 2.0, "yes": True, "password": SECRET,
        "quote": "\"\\\u0001"}
    return {name: values[name] for name in values if chance.random() < 0.4}


def place_of(transaction):
    """Its place among a million, as Schemas/README.md has it."""
    value = (uuid.UUID(transaction).int % 2**64 + 0x9E3779B97F4A7C15) % 2**64
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return (value ^ value >> 31) % 1_000_000


def sampling_of(chance, transaction):
    rate = chance.choice([None, None, 0, 100_000, 333_333, 500_000])
    if rate is None:
        return {}
    return {"sample_ppm": rate} | ({} if place_of(transaction) < rate else {"sample_kept": True})


def record_exchange(chance, source, part, role, servers, transaction):
    members = {"role": role, "method": chance.choice(["GET", "POST", "PURGE"]), "path": f"/login/{chance.randrange(5)}"}
    if role == "client" or chance.random() < 0.5:
        members.update(scheme=chance.choice(["http", "https"]), host="api.example.com")
    if chance.random() < 0.3:
        members.update(query=f"page=1&token={SECRET}", port=8443)
    exchange = source.tell("exchange_begun", part, **members)
    if role == "client" and chance.random() < 0.6:
        cause = {"cause": {"source": source.id, "sequence": exchange}} if chance.random() < 0.9 else {}
        join(chance, chance.choice(servers), transaction, cause, servers)
    fate = chance.random()
    if fate < 0.7:
        version = {"http_version": chance.choice(["1.1", "2"])} if chance.random() < 0.5 else {}
        status = chance.choice([200, 204, 302, 401, 404, 500, 503])
        source.tell("exchange_finished", part, exchange=exchange, state="completed", status=status, **version)
    elif fate < 0.8:
        source.tell("exchange_finished", part, exchange=exchange, state="failed", error=error_of(chance))
    elif fate < 0.9:
        source.tell("exchange_finished", part, exchange=exchange, state="cancelled")


def join(chance, server, transaction, cause, servers):
    part = server.begin(transaction, joined=True, **cause)
    record_exchange(chance, server, part, "server", servers, transaction)
    server.tell("event", part, event=11)
    if chance.random() < 0.9:
        server.tell("finished", part, outcome="succeeded")


def record_transaction(chance, client, servers):
    transaction = uuid_of(chance)
    part = client.begin(transaction, attributes=attributes_of(chance), **sampling_of(chance, transaction))
    for _ in range(chance.randrange(6)):
        error = {"error": error_of(chance)} if chance.random() < 0.2 else {}
        client.tell("event", part, event=chance.randrange(3), attributes=attributes_of(chance), **error)
        if chance.random() < 0.4:
            record_exchange(chance, client, part, "client", servers, transaction)
    if chance.random() < 0.9:
        outcome = chance.choice(["succeeded", "failed", "cancelled", "abandoned"])
        client.tell("finished", part, outcome=outcome, **({"error": error_of(chance)} if outcome == "failed" else {}))
        if chance.random() < 0.1:
            client.tell("event", part, event=1)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A store, and how many parts, exchanges and events were closed in it."""
    chance, start = random.Random(SEED), 1_790_000_000_000_000
    clients = [Source(chance, "com.example.shop", "iOS", start + chance.randrange(10**9)) for _ in range(60)]
    servers = [Source(chance, "login", "Linux", start) for _ in range(4)]
    for _ in range(TRANSACTIONS):
        record_transaction(chance, chance.choice(clients), servers)
    sets = [one for source in clients + servers for one in source.sets()]
    chance.shuffle(sets)
    sets += chance.sample(sets, len(sets) // 10)  # these come twice
    folder = tmp_path_factory.mktemp("generated")
    for index, one in enumerate(sets):
        (folder / f"{index:05}.waybill-set.json").write_text(json.dumps(one))
    waybill("import", folder, "--to", folder / "store")
    facts = [(source.id, fact) for source in clients + servers for fact in source.facts]
    closed = {(source, fact["part"]) for source, fact in facts if fact["kind"] == "finished"}
    kinds = Counter(fact["kind"] for source, fact in facts if (source, fact["part"]) in closed)
    return SimpleNamespace(store=folder / "store", counts=(kinds["finished"], kinds["exchange_finished"], kinds["event"]))


@pytest.fixture(scope="module", params=["generated", "demo"])
def store(request):
    if request.param == "generated":
        return request.getfixturevalue("generated").store
    return request.getfixturevalue("collected")


@pytest.fixture(scope="module")
def sent(store, tmp_path_factory):
    """What a backend got, that was busy at first."""
    folder = tmp_path_factory.mktemp("sent")
    with Receiver() as receiver:
        export = [WAYBILL, "export", store, "--format", "otlp", "--to", receiver.url, "--cursor", folder / "cursor"]
        told = execute(*export).stderr
        requests = list(receiver.requests)
        execute(*export)
        return SimpleNamespace(
            told=told, requests=requests, spans=spans_of(requests), faults=receiver.faults, refused=receiver.refused,
            again=receiver.requests[len(requests):])


def spans_of(requests):
    return [span for _, span in with_resources(requests)]


def with_resources(requests):
    for of in (of for request in requests for of in request.resource_spans):
        yield from ((of.resource, span) for scope in of.scope_spans for span in scope.spans)


def content(requests):
    """What was sent, in whichever order and however divided into requests."""
    return Counter((of.SerializeToString(), span.SerializeToString()) for of, span in with_resources(requests))


@pytest.fixture(scope="module")
def known_names():
    """Every name that the semantic conventions have, stable or not."""
    names = set()
    for package in ("opentelemetry.semconv.attributes", "opentelemetry.semconv._incubating.attributes"):
        for module in iter_modules(import_module(package).__path__):
            constants = vars(import_module(f"{package}.{module.name}"))
            names |= {value for value in constants.values() if isinstance(value, str) and "." in value}
    return names


def values_of(attributes):
    keys = [attribute.key for attribute in attributes]
    assert len(set(keys)) == len(keys) and "" not in keys, "each attribute stands once, and has a name"
    assert all(attribute.value.WhichOneof("value") for attribute in attributes), "and a value"
    return {attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in attributes}


def test_the_store_has_what_was_generated(generated):
    assert in_sqlite(generated.store / "waybill.sqlite", COUNTS)[0][:3] == generated.counts


def test_a_busy_backend_is_asked_again_and_gets_every_span_once(sent):
    assert sent.faults == [], "nothing is malformed"
    assert (sent.told, sent.refused) == (f"{len(sent.spans)} spans sent.\n", 1)
    ids = {(span.trace_id, span.span_id) for span in sent.spans}
    assert len(ids) == len(sent.spans) > 0, "each has an ID of its own"


def test_what_was_sent_is_not_sent_again(sent):
    assert sent.again == []


def test_resources_have_a_service_and_known_names(sent, known_names):
    for resource in [resource for request in sent.requests for resource in request.resource_spans]:
        attributes = values_of(resource.resource.attributes)
        assert attributes.get("service.name") and attributes.get("service.instance.id")
        # What the app says of itself has names of its own; ours have a point.
        assert {name for name in attributes if "." in name} <= known_names


def test_spans_have_what_the_conventions_ask_for(sent, known_names):
    for span in sent.spans:
        attributes = values_of(span.attributes)
        for event in span.events:
            values_of(event.attributes)
            assert event.name and event.time_unix_nano
        assert span.name and 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        assert REQUIRED[span.kind] <= attributes.keys()
        ours = {name for name in attributes if name.split(".")[0] in {"http", "url", "server", "network", "error"}}
        assert ours <= known_names
        if span.kind != INTERNAL and "http.response.status_code" in attributes:
            status, is_error = attributes["http.response.status_code"], span.status.code == 2
            assert is_error == (status >= (400 if span.kind == CLIENT else 500))
            assert not is_error or attributes.get("error.type") == str(status)


def test_parents_exist_and_spans_are_as_many_as_in_the_store(sent, store):
    by_id = {(span.trace_id, span.span_id): span for span in sent.spans}
    resolved = 0
    for span in sent.spans:
        parent = by_id.get((span.trace_id, span.parent_span_id)) if span.parent_span_id else None
        is_remote = span.flags & REMOTE == REMOTE
        resolved += is_remote and parent is not None and parent.kind == CLIENT
        if span.parent_span_id and not is_remote:
            assert parent is not None, "the parent exists"
            assert parent.start_time_unix_nano <= span.start_time_unix_nano, "and starts first"
        assert span.kind == INTERNAL or span.parent_span_id, "an exchange has a parent"
    parts = sum(span.kind == INTERNAL for span in sent.spans)
    found = (parts, len(sent.spans) - parts, sum(len(span.events) for span in sent.spans), resolved)
    assert found == in_sqlite(store / "waybill.sqlite", COUNTS)[0], "and parts under the exchange that caused them"


def test_sampled_spans_count_for_as_many_as_they_stand_for(sent, store):
    """By https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/."""
    parts = {(span.trace_id, span.span_id): span for span in sent.spans if span.kind == INTERNAL}
    counted = Counter()
    for key, span in parts.items():
        attributes = values_of(span.attributes)
        rate = attributes.get("waybill.sample_ppm")
        is_kept_anyway = attributes["waybill.outcome"] in ("failed", "abandoned")
        if rate is None or attributes.get("waybill.sample_kept") and not is_kept_anyway:
            assert span.trace_state == "", "without a rate, or not to be delivered"
            continue
        threshold, randomness = re.fullmatch("ot=th:([0-9a-f]{1,14});rv:([0-9a-f]{14})", span.trace_state).groups()
        assert threshold == "0" or not threshold.endswith("0")
        threshold, randomness = int(threshold.ljust(14, "0"), 16), int(randomness, 16)
        assert randomness >= threshold, "or a sampler on the way finds that it should not be there"
        expected = 1 if is_kept_anyway else 1_000_000 / rate
        assert abs(2**56 / (2**56 - threshold) - expected) < 1e-6
        counted["kept" if is_kept_anyway else "chosen"] += 1
    for span in sent.spans:
        if span.kind != INTERNAL:
            assert span.trace_state == parts[span.trace_id, span.parent_span_id].trace_state, "as the part it is of"
    sampled = in_sqlite(store / "waybill.sqlite", "SELECT count(*) FROM parts WHERE sample_ppm IS NOT NULL")[0][0]
    assert bool(sampled) == (counted["kept"] > 0 and counted["chosen"] > 0)


def test_no_secret_leaves(sent):
    assert not any(SECRET.encode() in request.SerializeToString() for request in sent.requests)


def test_a_file_has_the_same_spans(sent, store, tmp_path):
    waybill("export", store, "--format", "otlp", "--output", tmp_path / "spans.jsonl")
    lines = (tmp_path / "spans.jsonl").read_bytes().splitlines()
    assert content(map(parse, lines)) == content(sent.requests)


def test_a_collector_sends_the_same_spans_and_says_up_to_where(sent, store, serve, tmp_path):
    served = shutil.copytree(store, tmp_path / "served")
    cursor, deadline = served / "waybill.otlp-cursor", time.monotonic() + 120
    with Receiver() as receiver:
        collector = serve(served, "--insecure", "--otlp", receiver.url)
        while not cursor.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert (cursor.exists(), collector.end()) == (True, 0), "it has sent everything, and ends"
        assert receiver.faults == []
        assert content(receiver.requests) == content(sent.requests)
