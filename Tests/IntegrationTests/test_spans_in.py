"""A service in Python that has OpenTelemetry's own SDK, and no Waybill, takes part in transactions: PyPI
`opentelemetry-sdk` and its exporters over OTLP/HTTP, which know nothing of Waybill either."""
import base64
import gzip
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from google.protobuf.json_format import MessageToDict, Parse
from google.rpc.status_pb2 import Status as RPCStatus
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from otlp_receiver import Receiver
from sets import APP, Recorder, guid, now
from waybill import TIMEOUT, in_sqlite, waybill

FIELD = TraceContextTextMapPropagator()
MASK = (1 << 64) - 1
IDS = {"traceId", "spanId", "parentSpanId"}


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(tmp_path_factory.mktemp("spans"), roles=["ingest", "read"])


class TransactionIDs(RandomIdGenerator):
    """What begins in this service is a transaction: the ID of its trace is a UUIDv7."""

    def generate_trace_id(self):
        return uuid.UUID(guid()).int


def span_id(source, sequence):
    """What an exchange of an app is called in `traceparent`: Schemas/README.md, "Spans"."""
    def mixed(value):
        value = value + 0x9E3779B97F4A7C15 & MASK
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
        value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
        return value ^ value >> 31

    number = uuid.UUID(source).int
    return mixed(mixed(mixed(number >> 64) ^ number & MASK) ^ sequence) or 1


def traceparent(transaction, source, sequence):
    return f"00-{uuid.UUID(transaction).hex}-{span_id(source, sequence):016x}-03"


def json_of(request):
    """The request as OTLP has it in JSON: IDs in hexadecimal, enums as numbers."""
    def renamed(value, name=None):
        if isinstance(value, dict):
            return {key: renamed(member, key) for key, member in value.items()}
        if isinstance(value, list):
            return [renamed(element) for element in value]
        if name in IDS:
            return base64.b64decode(value).hex()
        return value

    return json.dumps(renamed(MessageToDict(request, use_integers_for_enums=True)))


class JSONExporter(SpanExporter):
    def __init__(self, collector):
        self.collector, self.answers = collector, []

    def export(self, spans):
        status, answer = post(
            self.collector, gzip.compress(json_of(encode_spans(spans)).encode()), "application/json",
            **{"Content-Encoding": "gzip"})
        self.answers.append(json.loads(answer))
        return SpanExportResult.SUCCESS if status == 200 else SpanExportResult.FAILURE


def post(collector, body, media_type="application/x-protobuf", role="ingest", **fields):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    headers = {"Content-Type": media_type, "Authorization": f"Bearer {collector.tokens[role]}", **fields}
    connection.request("POST", "/v1/traces", body, headers)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    return response.status, answer


class Service:
    """A server on a port of its own that asks `below`, if there is one, and whose spans are exported as they end."""

    def __init__(self, name, exporter, below=None):
        provider = TracerProvider(
            resource=Resource.create({"service.name": name, "service.instance.id": f"{name}-1"}),
            id_generator=TransactionIDs())
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        self.provider, self.tracer = provider, provider.get_tracer(__name__)
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                context = FIELD.extract({name.lower(): value for name, value in self.headers.items()})
                attributes = {
                    "http.request.method": "GET", "url.path": self.path, "url.scheme": "http",
                    "server.address": "127.0.0.1"}
                with service.tracer.start_as_current_span(
                        f"GET {self.path}", context, SpanKind.SERVER, attributes) as span:
                    with service.tracer.start_as_current_span("look it up", attributes={"items": 3}) as work:
                        work.add_event("rates loaded", {"age_s": 4})
                        if below:
                            service.get(below + self.path)
                        if self.path == "/broken":
                            try:
                                raise ValueError("no such cart")
                            except ValueError as error:
                                work.record_exception(error)
                                span.set_status(Status(StatusCode.ERROR))
                    span.set_attribute("http.response.status_code", 200)
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def get(self, url):
        with self.tracer.start_as_current_span(
                "GET", kind=SpanKind.CLIENT, attributes={"http.request.method": "GET", "url.full": url}) as span:
            fields = {}
            FIELD.inject(fields)
            with urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=TIMEOUT) as response:
                span.set_attribute("http.response.status_code", response.status)

    def end(self):
        self.provider.shutdown()
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


@pytest.fixture(params=["protobuf", "JSON"])
def exporter(request, collector):
    if request.param == "JSON":
        return lambda: JSONExporter(collector)
    return lambda: OTLPSpanExporter(
        collector.url + "/v1/traces", headers={"Authorization": f"Bearer {collector.tokens['ingest']}"})


def record(collector, transaction):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request(
        "GET", f"/v1/transactions/{transaction}", headers={"Authorization": f"Bearer {collector.tokens['read']}"})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return json.loads(body) if response.status == 200 else None


def verified(collector):
    return waybill("verify", collector.place)


def test_an_app_and_two_services_without_waybill_are_one_transaction(exporter, collector):
    """The app asks the shop twice at once, and the shop the stock; the app's set comes last, as sets do."""
    app, transaction = Recorder(APP, now()), guid()
    app.open(0, transaction, 0)
    with Service("stock", exporter()) as stock, Service("shop", exporter(), stock.url) as shop:
        asked = []
        for number, path in enumerate(["/cart", "/broken"]):
            opened, close = app.request(1000 + number, 90_000, path)
            asked.append((opened, path))
            request = urllib.request.Request(
                shop.url + path, headers={"traceparent": traceparent(transaction, app.id, opened)})
            urllib.request.urlopen(request, timeout=TIMEOUT).read()
            close()
    app.add(100_000, "finished", outcome="succeeded")
    collector.post(app.set())

    found = record(collector, transaction)
    assert found["summary"]["outcome"] == "succeeded" and found["summary"]["use_case"] == 0
    names = {source["id"]: source["app"] for source in found["sources"]}
    parts = [part for part in found["parts"] if names[part["id"]["source"]] != APP["app"]]
    assert sorted(names[part["id"]["source"]] for part in parts) == ["shop", "shop", "stock", "stock"]
    exchanges = {(each["id"]["source"], each["id"]["sequence"]): each for each in found["exchanges"]}
    assert len(exchanges) == 8, "two of the app, and of each request of the shop and the stock theirs"
    for part in parts:
        cause = exchanges[part["cause"]["source"], part["cause"]["sequence"]]
        own = next(
            each for each in found["exchanges"] if each["id"]["source"] == part["id"]["source"]
            and each["part"] == part["id"]["sequence"] and each["role"] == "server")
        assert cause["url"].endswith(own["url"].rpartition("/")[2]), "each part was caused by its own request"
        assert names[cause["id"]["source"]] == ("shop" if names[part["id"]["source"]] == "stock" else APP["app"])
    errors = [event["error"] for event in found["timeline"] if event.get("error")]
    assert [(error["name"], error["text"]) for error in errors if error["name"]] == [("ValueError", "no such cart")] * 2
    labels = [event["label"] for event in found["timeline"] if event["kind"] == "event"]
    assert labels.count("look it up") == 4 and labels.count("rates loaded") == 4
    shown = waybill("show", collector.place, transaction)
    assert "shop" in shown and "stock" in shown and "look it up" in shown
    verified(collector)


def test_they_go_out_again_as_the_spans_that_they_were(exporter, collector, tmp_path):
    app, transaction = Recorder(APP, now()), guid()
    app.open(0, transaction, 0)
    seen = []

    class Tee(SpanExporter):
        def __init__(self, other):
            self.other = other

        def export(self, spans):
            seen.extend(spans)
            return self.other.export(spans)

    with Service("stock", Tee(exporter())) as stock, Service("shop", Tee(exporter()), stock.url) as shop:
        opened, close = app.request(1000, 90_000, "/cart")
        urllib.request.urlopen(urllib.request.Request(
            shop.url + "/cart", headers={"traceparent": traceparent(transaction, app.id, opened)}), timeout=TIMEOUT)
        close()
    app.add(100_000, "finished", outcome="succeeded")
    collector.post(app.set())
    lines = waybill("export", collector.place, "--format", "otlp").splitlines()
    trace = uuid.UUID(transaction).hex
    out = [
        span for line in lines for resource in json.loads(line)["resourceSpans"]
        for scope in resource["scopeSpans"] for span in scope["spans"] if span["traceId"] == trace]
    sent = {(f"{span.context.span_id:016x}", f"{span.parent.span_id:016x}" if span.parent else None,
             span.kind.value + 1, span.name) for span in seen}
    names = {span["spanId"] for span in out}
    assert len(names) == len(out), "no span stands twice"
    assert all(span.get("parentSpanId") in names for span in out if "parentSpanId" in span), "no parent is missing"
    got = {(span["spanId"], span.get("parentSpanId"), span["kind"], span["name"]) for span in out}
    assert sent <= got
    # Besides, the app's part and its exchange.
    assert len(got - sent) == 2
    root = [span for span in out if "parentSpanId" not in span]
    assert len(root) == 1
    # All that the SDK says of them, but for what leads back to the store.
    by_id = {span["spanId"]: span for span in out}
    for resource in json.loads(json_of(encode_spans(seen)))["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                exported = dict(by_id[span["spanId"]])
                exported["attributes"] = [
                    each for each in exported["attributes"] if not each["key"].startswith("waybill.")]
                expected = {name: value for name, value in span.items() if value not in ({}, "", [])}
                assert {name: value for name, value in exported.items() if value != []} == expected


def test_what_begins_in_a_service_is_a_transaction_of_its_own(exporter, collector):
    with Service("cron", exporter()) as service:
        with service.tracer.start_as_current_span("nightly sync") as span:
            transaction = str(uuid.UUID(int=span.context.trace_id))
    found = record(collector, transaction)
    assert (found["summary"]["use_case_name"], found["summary"]["outcome"]) == ("nightly sync", "succeeded")


def test_the_sample_of_the_guide_begins_a_transaction(collector):
    """Breaks when the guide's sample needs an import or a call that it doesn't show."""
    guide = pathlib.Path(__file__).parents[2] / "Sources/Waybill/Waybill.docc/JoinOtherStacks.md"
    sample = re.search(r"^```python\n(.*?)^```", guide.read_text(), re.M | re.S)[1]
    work = """
with trace.get_tracer("cron").start_as_current_span("nightly job") as span:
    print(span.get_span_context().trace_id)
provider.shutdown()
"""
    settings = {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url + "/v1/traces",
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": f"authorization=Bearer%20{collector.tokens['ingest']}"}
    ran = subprocess.run(
        [sys.executable, "-c", sample + work], env=os.environ | settings, check=True, capture_output=True, text=True,
        timeout=TIMEOUT)
    found = record(collector, str(uuid.UUID(int=int(ran.stdout))))
    assert (found["summary"]["use_case_name"], found["summary"]["outcome"]) == ("nightly job", "succeeded")


def test_spans_of_other_traces_are_refused_in_the_protocols_own_form(collector):
    spans = []

    class Keeper(SpanExporter):
        def export(self, its):
            spans.extend(its)
            return SpanExportResult.SUCCESS

    provider = TracerProvider(id_generator=RandomIdGenerator())
    provider.add_span_processor(SimpleSpanProcessor(Keeper()))
    generator = provider.id_generator
    generator.generate_trace_id = lambda: 0x0123456789AB4CDE8000000000000005
    for number in range(3):
        with provider.get_tracer("x").start_as_current_span(f"other {number}"):
            pass
    request = encode_spans(spans)
    status, answer = post(collector, request.SerializeToString())
    partial = ExportTraceServiceResponse.FromString(answer).partial_success
    assert (status, partial.rejected_spans) == (200, 3)
    assert partial.error_message == "3 spans: its trace is no transaction of Waybill."
    status, answer = post(collector, json_of(request).encode(), "application/json")
    assert json.loads(answer) == {"partialSuccess": {"rejectedSpans": "3", "errorMessage": partial.error_message}}


def test_spans_that_come_again_are_known(exporter, collector):
    kept = []

    class Keeper(SpanExporter):
        def export(self, spans):
            kept.append(spans)
            return SpanExportResult.SUCCESS

    with Service("twice", Keeper()) as service, service.tracer.start_as_current_span("begin") as span:
        transaction = str(uuid.UUID(int=span.context.trace_id))
        with service.tracer.start_as_current_span("inside"):
            pass
    real = exporter()
    for _ in range(3):
        for spans in reversed(kept):
            assert real.export(spans) == SpanExportResult.SUCCESS
    found = record(collector, transaction)
    assert len(found["parts"]) == 1
    assert [event["label"] for event in found["timeline"] if event["kind"] == "event"] == ["inside"]
    count = in_sqlite(
        f"{collector.place}/waybill.sqlite",
        f"SELECT count(*) FROM spans WHERE hex(guid) = '{uuid.UUID(transaction).hex.upper()}'")
    assert "2" in str(count)
    verified(collector)


@pytest.mark.parametrize("role, body, status, word", [
    ("ingest", b"\x0a\xff", 400, "OTLP"), ("ingest", b"{", 400, "OTLP"), ("ingest", b'{"resourceSpans": 1}', 422, "resourceSpans"),
    ("read", b"", 403, "role"), ("none", b"", 401, "token")])
def test_an_error_is_a_status_in_the_encoding_of_the_request(collector, role, body, status, word):
    media_type = "application/json" if body.startswith(b"{") else "application/x-protobuf"
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    token = {"Authorization": f"Bearer {collector.tokens[role]}"} if role in collector.tokens else {}
    connection.request("POST", "/v1/traces", body, {"Content-Type": media_type, **token})
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    assert (response.status, response.headers["Content-Type"]) == (status, media_type), answer
    read = Parse(answer, RPCStatus()) if media_type == "application/json" else RPCStatus.FromString(answer)
    assert word in read.message and not read.details


def test_what_is_in_neither_encoding_gets_a_problem_document(collector):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request(
        "POST", "/v1/traces", b"spans", {"Content-Type": "text/plain", "Authorization": f"Bearer {collector.tokens['ingest']}"})
    response = connection.getresponse()
    assert (response.status, response.headers["Content-Type"]) == (415, "application/problem+json")
    assert "application/x-protobuf" in json.loads(response.read())["accept"]
    connection.close()
