"""Examples/ManyStacks: a client on AsyncHTTPClient and URLSession, a gateway in Hummingbird, a service on gRPC, one in Python with OpenTelemetry's
own SDK, and a collector. What they do together is one transaction each, and nobody else is told of it."""
import collections
import difflib
import json
import os
import re
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from otlp_receiver import parse
from test_examples import shape
from waybill import ROOT, TIMEOUT, Collector, Service, execute, waybill

FOLDER = ROOT / "Examples/ManyStacks"
PRODUCTS = FOLDER / ".build/debug"
FIELDS = {"waybill-transaction", "traceparent", "tracestate"}
# Of one order that a client asks for twice: the parts of each source, and its exchanges.
PARTS = {"shop-client": 1, "shop-gateway": 4, "shop-stock": 2, "shop-prices": 2}
EXCHANGES = {"shop-client": 2, "shop-gateway": 8, "shop-stock": 2, "shop-prices": 4}


class Recorder:
    """A server that knows nothing, and keeps the header fields of each request: on a host of its own, 127.0.0.2, or on that of the others."""

    def __init__(self, answer, host="127.0.0.2"):
        recorder, self.requests = self, []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                recorder.requests.append([name.lower() for name in self.headers.keys()])
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer((host, 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.url = f"http://{host}:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Stacks:
    """All five, with a fresh folder."""

    def __init__(self, folder, first, prices=None, elsewhere="", **gateway):
        self.folder, self.collected, self.first = folder, folder / "collected", first
        self.collector = Collector(self.collected, "--insecure")
        self.running = [self.collector]
        self.stock = self.start("stock", PRODUCTS / "ShopStock")
        self.prices = prices or self.start("prices", sys.executable, FOLDER / "prices.py", "serve", self.collector.url)
        self.elsewhere = elsewhere
        self.gateway = self.start_gateway(**gateway)

    def environment(self, name, **more):
        return os.environ | {"STORE": str(self.folder / name), "COLLECTOR": self.collector.url} | more

    def start(self, name, *command, **more):
        service = Service(*command, env=self.environment(name, **more))
        self.running.append(service)
        return service

    def start_gateway(self, **more):
        ports = [service.url.rsplit(":")[-1] for service in (self.stock, self.prices)]
        return self.start("gateway", PRODUCTS / "ShopGateway", *ports, self.first, ELSEWHERE=self.elsewhere, **more)

    def order(self, count, how="beside", url=None):
        execute(
            PRODUCTS / "ShopClient", url or self.gateway.url, count, how, STORE=str(self.folder / "client"),
            COLLECTOR=self.collector.url)

    def records(self):
        rows = json.loads(waybill("list", self.collected, "--json"))["rows"]
        return [json.loads(waybill("show", self.collected, row["id"], "--json")) for row in rows]

    def when_whole(self, count, parts=PARTS):
        """The records, once so many transactions have all their parts, closed."""
        deadline, wanted = time.monotonic() + TIMEOUT, [sum(parts.values())] * count
        while True:
            records = self.records()
            if [sum("closed_us" in part for part in record["parts"]) for record in records] == wanted:
                return [Merged(record) for record in records]
            seen = [dict(Merged(record).parts) for record in records]
            assert time.monotonic() < deadline, f"{count} transactions have the parts of all: {seen}"
            time.sleep(0.2)

    def end(self):
        for service in reversed(self.running):
            if service.process.poll() is None:
                service.end()
            service.process.kill()
            service.process.wait(TIMEOUT)


class Merged:
    """A transaction as the collector has it."""

    def __init__(self, record):
        self.record = record
        self.names = {source["id"]: source["app"] for source in record["sources"]}
        self.parts = collections.Counter(self.names[part["id"]["source"]] for part in record["parts"])
        self.exchanges = {key(each["id"]): each for each in record["exchanges"]}

    def name(self, id):
        return self.names[id["source"]]

    def served(self, part):
        """The server's exchange of a part."""
        found = [
            each for each in self.record["exchanges"] if each["role"] == "server"
            and each["id"]["source"] == part["id"]["source"] and each["part"] == part["id"]["sequence"]]
        assert len(found) == 1, f"a part has one: {found}"
        return found[0]

    def number(self, exchange):
        """Which order a request is for: by its path, or, over gRPC, by that of the request it was made for."""
        path = exchange["url"].partition("?")[0]
        if not path.endswith("shop.Stock/Count"):
            return path.rpartition("/")[2]
        part = next(
            part for part in self.record["parts"] if part["id"]["source"] == exchange["id"]["source"]
            and part["id"]["sequence"] == exchange["part"])
        return self.number(self.served(part))

    def assert_whole(self, asking, exchanges=EXCHANGES):
        """Each request is there from both ends, and each part is caused by the request that it answers."""
        counts = collections.Counter(self.name(each["id"]) for each in self.record["exchanges"])
        assert counts == exchanges, "no exchange is missing, and none is there twice"
        assert all(each["status"] == 200 and each["state"] == "completed" for each in self.record["exchanges"])
        used = collections.Counter()
        for part in self.record["parts"]:
            assert part["outcome"] == "succeeded", part
            if not part["is_joined"]:
                continue
            cause, name = self.exchanges[key(part["cause"])], self.name(part["id"])
            assert cause["role"] == "client"
            served = self.served(part)
            used[key(cause["id"])] += 1
            if name == "shop-stock":
                numbers = {
                    entry["attributes"]["number"] for entry in self.record["timeline"]
                    if entry["kind"] == "event" and entry["label"] == "stockCounted"
                    and (entry["id"]["source"], entry["part"]) == (part["id"]["source"], part["id"]["sequence"])}
                assert numbers == {self.number(cause)}, "the call was made for the order that was counted"
            else:
                assert self.number(served) == self.number(cause)
            assert self.name(cause["id"]) == {
                "/order/": asking, "/price/": "shop-gateway", "/currency/": "shop-prices", "/shop.Stock/": "shop-gateway",
            }[re.search(r"/(order|price|currency|shop\.Stock)/", served["url"])[0]]
        assert set(used.values()) == {1}, "each request has caused one part"
        assert len(used) == sum(each["role"] == "client" for each in self.record["exchanges"]), "and each has caused one"


def essence(picture):
    """The lines of a picture but for times, sorted: what is done beside each other has no order of its own, nor have those who do it."""
    for what, instead in [
            (r" (took|began, succeeded|joined, succeeded) .*", r" \1"), (r"traceparent=\S+", "traceparent"),
            (r"^( *\S+) .*….*", r"\1 …"), (r"[│├┌└]", " ")]:
        picture = re.sub(what, instead, picture, flags=re.MULTILINE)
    return sorted(shape(picture))


def key(id):
    return id["source"], id["sequence"]


@pytest.fixture
def start(tmp_path):
    started = []

    def start(first="ours", **options):
        started.append(Stacks(tmp_path / f"{len(started)}", first, **options))
        return started[-1]

    (tmp_path / "0").mkdir()
    yield start
    for stacks in started:
        stacks.end()


def assert_spans(stacks, records):
    """One trace for each transaction, read strictly: each span's parent is there, and in the same trace."""
    file = stacks.folder / "spans.jsonl"
    waybill("export", stacks.collected, "--format", "otlp", "--output", file)
    spans = {}
    for line in file.read_bytes().splitlines():
        for resource in parse(line).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    assert span.span_id not in spans, "a span is there once"
                    spans[span.span_id] = span
    traces = collections.defaultdict(list)
    for span in spans.values():
        traces[span.trace_id.hex()].append(span)
        if span.parent_span_id:
            assert spans[span.parent_span_id].trace_id == span.trace_id
    assert set(traces) == {each.record["summary"]["id"].replace("-", "") for each in records}
    assert all(sum(not span.parent_span_id for span in trace) == 1 for trace in traces.values()), "one root each"
    return len(spans)


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_orders_beside_each_other_are_one_transaction_each(start, first):
    stacks = start(first)
    stacks.order(5)
    records = stacks.when_whole(5)
    for record in records:
        assert record.parts == PARTS and record.record["summary"]["outcome"] == "succeeded"
        record.assert_whole("shop-client")
    assert assert_spans(stacks, records) >= 5 * sum(EXCHANGES.values())
    assert waybill("verify", stacks.collected).startswith("sound: 5 transactions")


def test_orders_that_begin_in_python_are_transactions_as_well(start):
    stacks = start()
    execute(sys.executable, FOLDER / "prices.py", "order", stacks.collector.url, stacks.gateway.url, 3)
    parts = {"shop-kiosk": 1, "shop-gateway": 2, "shop-stock": 1, "shop-prices": 1}
    records = stacks.when_whole(3, parts)
    for record in records:
        assert record.parts == parts
        record.assert_whole(
            "shop-kiosk", {"shop-kiosk": 1, "shop-gateway": 4, "shop-stock": 1, "shop-prices": 2})
    assert_spans(stacks, records)


def test_what_a_gateway_had_when_it_was_killed_arrives(start):
    stacks = start(DELIVER_EVERY="0")
    stacks.order(5)
    stacks.gateway.end(signal.SIGKILL)
    assert not any("shop-gateway" in Merged(record).parts for record in stacks.records()), "it had delivered nothing"
    stacks.gateway = stacks.start_gateway()
    records = stacks.when_whole(5)
    for record in records:
        record.assert_whole("shop-client")
    assert_spans(stacks, records)
    assert waybill("verify", stacks.collected).startswith("sound: 5 transactions")


def test_another_host_is_told_nothing(start):
    with Recorder("elsewhere") as elsewhere:
        stacks = start(elsewhere=elsewhere.url)
        stacks.order(2, "elsewhere")
        assert len(elsewhere.requests) == 6, "by URLSession, by AsyncHTTPClient, and by one that follows redirects itself"
        for names in elsewhere.requests:
            assert not FIELDS & set(names), f"a redirect to another host carries {names}"


def test_no_request_carries_a_field_twice(start):
    """Breaks where what traces a client and what wraps it both add theirs: no server could read it."""
    with Recorder("3 EUR", "127.0.0.1") as prices, Recorder("12 left at 3 EUR", "127.0.0.1") as gateway:
        stacks = start(prices=prices)
        stacks.order(2)
        stacks.order(2, url=gateway.url)
        assert (len(prices.requests), len(gateway.requests)) == (4, 4)
        for names in prices.requests + gateway.requests:
            assert collections.Counter(name for name in names if name in FIELDS) == dict.fromkeys(FIELDS, 1), names


def test_the_picture_of_an_order_is_that_of_the_readme(start):
    stacks = start()
    stacks.order(1, "after")
    [record] = stacks.when_whole(1)
    picture = waybill("show", stacks.collected, record.record["summary"]["id"])
    (ROOT / ".build/many-stacks.txt").write_text(picture + "\n")
    shown = re.search(r"^```text\n(.*?)^```$", (FOLDER / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    wanted, printed = essence(shown), essence(picture)
    assert wanted == printed, "\n".join(difflib.unified_diff(wanted, printed, "README.md", "printed", lineterm=""))
