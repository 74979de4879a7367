import json
import logging
import socket
import tempfile
import threading
import unittest
from pathlib import Path

from tests.fake_collector import FakeCollector, receipt
from tests.test_recorder import HEADER
from waybill import Delivery, Recorder


class DeliveryTests(unittest.TestCase):
    def setUp(self):
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        self.recorder = Recorder("notes-server", "1.0.0", {7: ("sync", {10: "serverStarted"})})

    def collector(self, answer=receipt) -> FakeCollector:
        collector = FakeCollector(answer)
        self.addCleanup(collector.close)
        return collector

    def request(self):
        with self.recorder.join(HEADER, 7, "GET", "/notes") as part:
            part.log(10)
            part.answered(200, 0, 12)

    def pending(self) -> int:
        return self.recorder.ledger()["pending"]

    def test_what_is_accepted_is_delivered_in_order(self):
        for _ in range(3):
            self.request()
        collector = self.collector()
        delivery = Delivery(self.recorder, collector.url)
        delivery._limit = 4
        self.assertTrue(delivery.flush())
        sequences = [fact["sequence"] for sent in collector.sets for fact in sent["sources"][0]["facts"]]
        self.assertEqual(sequences, list(range(1, 16)))
        self.assertEqual(self.recorder.ledger(), {"recorded": 15, "delivered": 15, "quarantined": 0, "pending": 0, "refused": 0})

    def test_an_answer_that_is_no_receipt_for_the_set_settles_nothing(self):
        self.request()
        answers = [
            lambda sent: (200, "text/html", b"<h1>Welcome to the airport</h1>"),
            lambda sent: (302, "text/html", b""),
            lambda sent: (503, "application/problem+json", b"{}"),
            lambda sent: (200, "application/vnd.waybill.receipt.v1+json", b"[]"),
            lambda sent: receipt(sent, set="0199f3a2-4f80-7b44-ac6e-9f8e7d6c5b4a"),
            lambda sent: receipt(sent, accepted=4),
            lambda sent: receipt(sent, accepted=4, rejected=[{"index": 5}]),
            lambda sent: receipt(sent, accepted=3, rejected=[{"index": 1}, {"index": 1}]),
        ]
        for number, answer in enumerate(answers):
            with self.subTest(number):
                self.assertFalse(Delivery(self.recorder, self.collector(answer).url).flush())
                self.assertEqual(self.pending(), 5)

    def test_a_rejected_fact_goes_to_quarantine_and_holds_nothing_up(self):
        self.request()
        collector = self.collector(lambda sent: receipt(sent, accepted=4, rejected=[{"index": 2, "sequence": 3, "reason": "no"}]))
        self.assertTrue(Delivery(self.recorder, collector.url).flush())
        self.assertEqual(self.recorder.ledger(), {"recorded": 5, "delivered": 4, "quarantined": 1, "pending": 0, "refused": 0})

    def test_a_set_that_is_too_large_is_halved(self):
        for _ in range(3):
            self.request()
        collector = self.collector(lambda sent: (413, "application/problem+json", b"{}"))
        delivery = Delivery(self.recorder, collector.url)
        delivery._limit = 15
        delivery.flush()
        collector.answer = receipt
        self.assertTrue(delivery.flush())
        self.assertEqual([len(sent["sources"][0]["facts"]) for sent in collector.sets], [15, 7, 7, 1])

    def test_recording_goes_on_while_a_collector_does_not_answer(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        self.request()
        delivery = Delivery(self.recorder, f"http://127.0.0.1:{silent.getsockname()[1]}")
        flushing = threading.Thread(target=delivery.flush, daemon=True)
        flushing.start()
        connection, _ = silent.accept()  # from here on, the set is under way
        self.request()
        self.assertEqual(self.pending(), 10)
        connection.close()
        flushing.join()
        self.assertEqual(self.pending(), 10)

    def test_what_no_collector_took_is_left_as_set_files(self):
        self.request()
        with tempfile.TemporaryDirectory() as folder:
            unused = socket.create_server(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            unused.close()
            Delivery(self.recorder, f"http://127.0.0.1:{port}").close(Path(folder) / "sets")
            [file] = (Path(folder) / "sets").iterdir()
            [source] = json.loads(file.read_text())["sources"]
            self.assertTrue(source["ended"])
            self.assertEqual(len(source["facts"]), 5)
            self.assertEqual(source["ledger"]["pending"], 5)

    def test_the_thread_delivers_by_itself_and_ends_when_asked(self):
        arrived = threading.Event()

        def answer(sent):
            arrived.set()
            return receipt(sent)

        delivery = Delivery(self.recorder, self.collector(answer).url, interval=0.01)
        delivery.start()
        self.request()
        self.assertTrue(arrived.wait(10))
        delivery.close()
        self.assertFalse(delivery.is_alive())
        self.assertEqual(self.pending(), 0)
