import json
import os
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from waybill import Waybill

FIELDS = json.loads((Path(__file__).parents[3] / "Schemas/examples/header-field.json").read_text())
FIELD = FIELDS["valid"][0]["value"]
RECEIPT = {"accepted": 4, "known": 0}


class Collector:
    """Answers each request with the next of `answers`, and with a receipt after the last."""

    def __init__(self, *answers, port=0):
        self.bodies, self.arrived = [], threading.Condition()
        answers = list(answers)
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, receipt = answers.pop(0) if answers else (200, RECEIPT)
                with collector.arrived:
                    collector.bodies.append(body)
                    collector.arrived.notify_all()
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(receipt).encode())

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def wait_for(self, count):
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.bodies) >= count, 10), f"{len(self.bodies)} sets arrived"

    def facts(self, index=0):
        return json.loads(self.bodies[index])["sources"][0]["facts"]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class WaybillTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def collector(self, *answers, port=0):
        collector = Collector(*answers, port=port)
        self.addCleanup(collector.close)
        return collector

    def waybill(self, port, use_cases={17}, **options):
        waybill = Waybill(f"http://127.0.0.1:{port}", {"app": "test"}, use_cases, {}, self.folder, pause=0.01, **options)
        self.addCleanup(lambda: waybill.thread.is_alive() and waybill.close())
        return waybill

    def request(self, waybill, field=FIELD, status=200):
        with waybill.join(field, "GET", "/notes?token=secret") as (record, response):
            record("event", event=10, name="serverStarted", attributes={"count": 2})
            response.update(status=status)

    def unused_port(self):
        collector = Collector()
        collector.close()
        return collector.port


class RecordingTests(WaybillTests):
    def test_every_valid_field_is_joined_with_its_cause(self):
        collector = self.collector()
        waybill = self.waybill(collector.port, {example["use_case"] for example in FIELDS["valid"]})
        for example in FIELDS["valid"]:
            self.request(waybill, example["value"])
        waybill.close()
        self.assertEqual(len(collector.bodies), len(FIELDS["valid"]))
        for index, example in enumerate(FIELDS["valid"]):
            joined = collector.facts(index)[0]
            self.assertEqual((joined["kind"], joined["transaction"].lower()), ("joined", example["transaction"]))
            self.assertEqual(joined["use_case"], example["use_case"])
            cause = {"source": example["source"], "sequence": example["exchange"]} if "exchange" in example else None
            self.assertEqual(joined.get("cause"), cause)

    def test_a_missing_or_malformed_field_records_nothing(self):
        collector = self.collector()
        waybill = self.waybill(collector.port, {1})
        # The client doesn't check the values of unknown parameters, here `a`.
        checked = [value for value in FIELDS["malformed"] if ";a=" not in value]
        for field in ["", *checked]:
            self.request(waybill, field)
        waybill.close()
        self.assertGreater(len(checked), 30)
        self.assertEqual(collector.bodies, [])

    def test_other_use_cases_record_nothing(self):
        collector = self.collector()
        waybill = self.waybill(collector.port, {18})
        self.request(waybill)
        waybill.close()
        self.assertEqual(collector.bodies, [])

    def test_a_part_fails_by_an_exception_or_a_status_from_500(self):
        collector = self.collector()
        waybill = self.waybill(collector.port)
        for status in (200, 404, 503):
            self.request(waybill, status=status)
        with self.assertRaises(PermissionError), waybill.join(FIELD, "GET", "/notes"):
            raise PermissionError(13, "secret")
        waybill.close()
        outcomes = [collector.facts(index)[-1]["outcome"] for index in range(4)]
        self.assertEqual(outcomes, ["succeeded", "succeeded", "failed", "failed"])
        self.assertNotIn(b"secret", b"".join(collector.bodies))
        kinds = [fact["kind"] for fact in collector.facts()]
        self.assertEqual(kinds, ["joined", "exchange_begun", "event", "exchange_finished", "finished"])


class DeliveryTests(WaybillTests):
    def test_a_retry_sends_the_same_bytes_until_there_is_a_receipt(self):
        collector = self.collector((503, {}), (429, {}), (401, {}), (200, []), (200, {"status": "ok"}))
        waybill = self.waybill(collector.port)
        with self.assertLogs("waybill"):
            self.request(waybill)
            collector.wait_for(6)
            waybill.close()
        self.assertEqual(len(collector.bodies), 6)
        self.assertEqual(len(set(collector.bodies)), 1)

    def test_a_collector_that_comes_back_gets_every_set_once(self):
        port = self.unused_port()
        waybill = self.waybill(port)
        with self.assertLogs("waybill"):
            self.request(waybill)
            self.request(waybill)
            threading.Event().wait(0.1)
            collector = self.collector(port=port)
            collector.wait_for(2)
        waybill.close()
        self.assertEqual(len(set(collector.bodies)), 2)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_refused_set_becomes_a_file_and_the_next_set_is_sent(self):
        collector = self.collector((422, {}))
        waybill = self.waybill(collector.port)
        with self.assertLogs("waybill"):
            self.request(waybill)
            self.request(waybill)
            waybill.close()
        [file] = self.folder.iterdir()
        self.assertEqual([file.read_bytes(), len(collector.bodies)], [collector.bodies[0], 2])
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)

    def test_sets_that_are_left_at_the_end_become_files(self):
        waybill = self.waybill(self.unused_port())
        with self.assertLogs("waybill"):
            for _ in range(3):
                self.request(waybill)
            waybill.close()
        self.assertEqual(len(list(self.folder.glob("*.json"))), 3)

    def test_a_full_queue_refuses_sets_and_counts_them(self):
        waybill = self.waybill(self.unused_port(), capacity=2)
        with self.assertLogs("waybill") as logs:
            for _ in range(6):
                self.request(waybill)
            waybill.close()
        self.assertIn(waybill.refused, (3, 4), "the thread may have taken one set from the queue")
        self.assertIn(f"{waybill.refused} sets", "".join(logs.output))
        self.assertEqual(len(list(self.folder.iterdir())), 6 - waybill.refused)

    def test_rejected_facts_are_logged_and_not_sent_again(self):
        collector = self.collector((200, RECEIPT | {"rejected": [{"index": 2, "reason": "no such day"}]}))
        waybill = self.waybill(collector.port)
        with self.assertLogs("waybill") as logs:
            self.request(waybill)
            waybill.close()
        self.assertIn("no such day", logs.output[0])
        self.assertEqual(len(collector.bodies), 1)
