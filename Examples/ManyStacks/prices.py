"""The prices of the shop: a service that has OpenTelemetry's own SDK, and no Waybill.

usage: prices.py serve COLLECTOR            until SIGTERM; prints where it listens
       prices.py order COLLECTOR GATEWAY N  N orders that begin here, one after another

It takes part by W3C's `traceparent`, as every service with OpenTelemetry does, and its spans go to the collector by OTLP/HTTP.
"""
import random
import signal
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

FIELD = TraceContextTextMapPropagator()


class TransactionIDs(RandomIdGenerator):
    """Makes the ID of a new trace a UUIDv7, so it can be a transaction's ID."""

    def generate_trace_id(self):
        value = (time.time_ns() // 1_000_000) << 80 | random.getrandbits(80)
        return value & ~(0xF << 76) & ~(0x3 << 62) | 7 << 76 | 2 << 62


def provider(name, collector):
    provider = TracerProvider(resource=Resource.create({"service.name": name}), id_generator=TransactionIDs())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{collector}/v1/traces"), schedule_delay_millis=200))
    return provider


def get(tracer, url):
    with tracer.start_as_current_span(
            "GET", kind=SpanKind.CLIENT, attributes={"http.request.method": "GET", "url.full": url}) as span:
        fields = {}
        FIELD.inject(fields)
        with urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=60) as response:
            span.set_attribute("http.response.status_code", response.status)
            return response.read().decode()


def serve(collector):
    spans = provider("shop-prices", collector)
    tracer = spans.get_tracer(__name__)

    class Prices(BaseHTTPRequestHandler):
        def do_GET(self):
            context = FIELD.extract({name.lower(): value for name, value in self.headers.items()})
            attributes = {
                "http.request.method": "GET", "url.scheme": "http", "url.path": self.path, "server.address": "127.0.0.1"}
            number = self.path.rpartition("/")[2]
            with tracer.start_as_current_span(f"GET {self.path}", context, SpanKind.SERVER, attributes) as span:
                with tracer.start_as_current_span("look it up", attributes={"number": number}):
                    # Calls the gateway back. Trust this header field only behind your own gateway.
                    currency = get(tracer, f"http://{self.headers['X-Forwarded-Host']}/currency/{number}")
                span.set_attribute("http.response.status_code", 200)
            answer = f"3 {currency}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Prices)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
    server.server_close()
    spans.shutdown()


def order(collector, gateway, count):
    spans = provider("shop-kiosk", collector)
    tracer = spans.get_tracer(__name__)
    for number in range(int(count)):
        with tracer.start_as_current_span("order"):
            answer = get(tracer, f"{gateway}/order/{number}-k")
            assert answer == "12 left at 3 EUR", answer
    spans.shutdown()


if __name__ == "__main__":
    {"serve": serve, "order": order}[sys.argv[1]](*sys.argv[2:])
