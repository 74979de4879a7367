import json
import resource
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import deliver
import waybill

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

    def start_delivery(self, port):
        """Returns a function that ends the delivery, and returns when it has ended."""
        ended = threading.Event()
        arguments = self.folder, f"http://127.0.0.1:{port}", {}, ended, 0.01
        thread = threading.Thread(target=deliver.deliver, args=arguments)
        thread.start()

        def end():
            ended.set()
            thread.join(10)
            self.assertFalse(thread.is_alive())

        self.addCleanup(end)
        return end

    def request(self, field=FIELD, use_cases={17}, status=200):
        with waybill.join(field, "GET", "/notes?token=secret", {"app": "test"}, use_cases, self.folder) as (record, response):
            record("event", event=10, name="serverStarted", attributes={"count": 2})
            response.update(status=status)

    def files(self, pattern="*"):
        return sorted(self.folder.glob(pattern))

    def facts(self):
        """The facts of each file, in the order of the requests."""
        return [json.loads(file.read_text())["sources"][0]["facts"] for file in self.files()]

    def unused_port(self):
        collector = Collector()
        collector.close()
        return collector.port


class RecordingTests(WaybillTests):
    def test_every_valid_field_is_joined_with_its_cause(self):
        for example in FIELDS["valid"]:
            self.request(example["value"], {example["use_case"] for example in FIELDS["valid"]})
        self.assertEqual(len(self.facts()), len(FIELDS["valid"]))
        for example, (joined, *_) in zip(FIELDS["valid"], self.facts()):
            self.assertEqual((joined["kind"], joined["transaction"].lower()), ("joined", example["transaction"]))
            self.assertEqual(joined["use_case"], example["use_case"])
            cause = {"source": example["source"], "sequence": example["exchange"]} if "exchange" in example else None
            self.assertEqual(joined.get("cause"), cause)

    def test_a_missing_or_malformed_field_records_nothing(self):
        # The client doesn't check the values of unknown parameters, here `a`.
        checked = [value for value in FIELDS["malformed"] if ";a=" not in value]
        for field in ["", *checked]:
            self.request(field, {1})
        self.assertGreater(len(checked), 30)
        self.assertEqual(self.files(), [])

    def test_other_use_cases_record_nothing(self):
        self.request(use_cases={18})
        self.assertEqual(self.files(), [])

    def test_a_part_fails_by_an_exception_or_a_status_from_500(self):
        for status in (200, 404, 503):
            self.request(status=status)
        with self.assertRaises(PermissionError), waybill.join(FIELD, "GET", "/notes", {}, {17}, self.folder):
            raise PermissionError(13, "secret")
        outcomes = [facts[-1]["outcome"] for facts in self.facts()]
        self.assertEqual(outcomes, ["succeeded", "succeeded", "failed", "failed"])
        self.assertNotIn("secret", "".join(file.read_text() for file in self.files()))
        kinds = [fact["kind"] for fact in self.facts()[0]]
        self.assertEqual(kinds, ["joined", "exchange_begun", "event", "exchange_finished", "finished"])

    def test_only_the_server_s_user_can_read_a_file(self):
        self.request()
        self.assertEqual(self.files()[0].stat().st_mode & 0o777, 0o600)

    def test_a_full_folder_refuses_sets_and_says_how_many_facts_are_lost(self):
        for number in range(999):
            (self.folder / str(number)).touch()
        self.request()
        with self.assertLogs("waybill") as logs:
            self.request()
        self.assertIn("5 facts are lost", logs.output[0])
        self.assertEqual(len(self.files("*.json")), 1)

    def test_a_failed_write_fails_no_request_leaves_no_file_and_says_how_many_facts_are_lost(self):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # A write past it fails, as on a full disk.
        try:
            with self.assertLogs("waybill") as logs:
                self.request()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.assertIn("5 facts are lost", logs.output[0])
        self.assertEqual(self.files(), [])


class DeliveryTests(WaybillTests):
    def test_a_retry_sends_the_same_bytes_until_there_is_a_receipt(self):
        collector = self.collector((503, {}), (429, {}), (401, {}), (200, []), (200, {"status": "ok"}))
        self.request()
        with self.assertLogs("waybill"):
            end = self.start_delivery(collector.port)
            collector.wait_for(6)
            end()
        self.assertEqual(len(collector.bodies), 6)
        self.assertEqual(len(set(collector.bodies)), 1)
        self.assertEqual(self.files(), [])

    def test_a_collector_that_comes_back_gets_every_set_once(self):
        port = self.unused_port()
        with self.assertLogs("waybill"):
            end = self.start_delivery(port)
            self.request()
            self.request()
            threading.Event().wait(0.1)
            collector = self.collector(port=port)
            collector.wait_for(2)
        end()
        self.assertEqual(len(set(collector.bodies)), 2)
        self.assertEqual(self.files(), [])

    def test_a_refused_set_stays_and_the_next_set_is_sent(self):
        collector = self.collector((422, {}))
        self.request()
        self.request()
        with self.assertLogs("waybill"):
            self.start_delivery(collector.port)()
        [file] = self.files()
        self.assertEqual([file.read_bytes(), len(collector.bodies)], [collector.bodies[0], 2])
        self.assertEqual(file.suffix, ".refused")

    def test_the_next_server_sends_what_is_left_when_a_server_ends(self):
        with self.assertLogs("waybill"):
            for _ in range(3):
                self.request()
            self.start_delivery(self.unused_port())()
        self.assertEqual(len(self.files("*.json")), 3)
        collector = self.collector()
        self.start_delivery(collector.port)()
        self.assertEqual([len(collector.bodies), self.files()], [3, []])

    def test_the_end_of_a_server_sends_the_last_sets(self):
        collector = self.collector()
        end = self.start_delivery(collector.port)
        self.request()
        end()
        self.assertEqual([len(collector.bodies), self.files()], [1, []])

    def test_a_file_that_cannot_be_read_does_not_end_the_thread(self):
        collector = self.collector()
        unreadable = self.folder / "0.json"
        unreadable.mkdir()
        with self.assertLogs("waybill"):
            self.start_delivery(collector.port)()
            end = self.start_delivery(collector.port)
            self.request()
            threading.Event().wait(0.1)
            unreadable.rmdir()
            collector.wait_for(1)
        end()
        self.assertEqual(self.files(), [])

    def test_rejected_facts_are_logged_and_not_sent_again(self):
        collector = self.collector((200, RECEIPT | {"rejected": [{"index": 2, "reason": "no such day"}]}))
        self.request()
        with self.assertLogs("waybill") as logs:
            self.start_delivery(collector.port)()
        self.assertIn("no such day", logs.output[0])
        self.assertEqual(len(collector.bodies), 1)
