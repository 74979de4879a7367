"""`waybill export --format perfetto`: what the demo's collector has, as a trace in Chrome's trace event format."""
import gzip
import json
from collections import Counter

import pytest
from waybill import in_sqlite, waybill

# The parts of transactions whose beginner is known, and their exchanges and events.
PARTS = """
    FROM parts p WHERE p.guid IN (SELECT guid FROM parts WHERE guid IS NOT NULL AND NOT joined)"""
COUNTS = f"""
    SELECT (SELECT count(*) {PARTS}), (SELECT count(DISTINCT p.source) {PARTS}),
    (SELECT count(*) FROM exchanges l JOIN (SELECT p.* {PARTS}) q ON q.source = l.source AND q.sequence = l.part
     WHERE l.method IS NOT NULL),
    (SELECT count(*) FROM events e JOIN (SELECT p.* {PARTS}) q ON q.source = e.source AND q.sequence = e.part
     WHERE e.code >= 0)"""


@pytest.fixture(scope="module")
def trace(collected, tmp_path_factory):
    file = tmp_path_factory.mktemp("traces") / "trace.json"
    waybill("export", collected, "--format", "perfetto", "--output", file)
    return json.loads(file.read_text())["traceEvents"]


def of(trace, *phases):
    return [event for event in trace if event["ph"] in phases]


def test_a_trace_has_what_the_store_has(trace, collected):
    ((parts, sources, exchanges, events),) = in_sqlite(collected / "waybill.sqlite", COUNTS)
    assert min(parts, sources, exchanges, events) > 0
    assert len(of(trace, "X", "B")) == parts
    assert len(of(trace, "b")) == exchanges
    assert len(of(trace, "i")) == events
    names = Counter(event["name"] for event in of(trace, "M"))
    assert names == {"process_name": sources, "thread_name": parts}


def test_events_lie_in_their_part_and_servers_in_the_request(trace):
    parts = {(part["pid"], part["tid"]): part for part in of(trace, "X")}
    for event in of(trace, "i"):
        part = parts[event["pid"], event["tid"]]
        assert part["ts"] <= event["ts"] <= part["ts"] + part["dur"], event
    ends = {event["id"]: event for event in of(trace, "e")}
    client_requests = [event for event in of(trace, "b") if event["args"]["role"] == "client"]
    assert client_requests and len(ends) == len(of(trace, "b"))
    transactions = {}
    for part in parts.values():
        transactions.setdefault(part["args"]["transaction"], []).append(part)
    # Clocks are aligned, so a server begins within its client's part. It may go on after its answer.
    for together in transactions.values():
        first = min(together, key=lambda part: part["ts"])
        assert first["pid"] in {request["pid"] for request in client_requests}
        assert all(part["ts"] <= first["ts"] + first["dur"] for part in together)


def test_a_filter_and_gzip_apply(trace, collected, tmp_path):
    waybill("export", collected, "--format", "perfetto", "--outcome", "failed", "--output", tmp_path / "t.json.gz")
    failed = json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))["traceEvents"]
    codes = {part["args"]["support_code"] for part in of(failed, "X", "B")}
    assert 0 < len(codes) < len({part["args"]["support_code"] for part in of(trace, "X", "B")})
