import unittest

from waybill import Recorder
from waybill.delivery import encoded

HEADER = '"0199f3a2-4f80-7b44-ac6e-9f8e7d6c5b4a";u=7;s="0199f3a2-4e10-7c22-9a4d-1f2e3d4c5b6a";n=4'


class RecorderTests(unittest.TestCase):
    def setUp(self):
        self.recorder = Recorder("notes-server", "1.0.0", {7: ("sync", {10: "serverStarted"})})

    def facts(self) -> list[dict]:
        next_set = self.recorder.next_set(1_000)
        return next_set["sources"][0]["facts"] if next_set else []

    def request(self, header: str | None = HEADER, status: int = 200):
        with self.recorder.join(header, 7, "GET", "/notes") as part:
            part.log(10)
            part.answered(status, 0, 12)

    def test_a_request_without_the_header_field_leaves_no_trace(self):
        self.request(header=None)
        self.request(header="nonsense")
        self.assertEqual(self.facts(), [])
        self.assertEqual(self.recorder.malformed_headers, 1)

    def test_a_request_becomes_a_joined_part_that_names_its_cause(self):
        self.request()
        facts = self.facts()
        self.assertEqual([fact["kind"] for fact in facts], ["opened", "exchange_opened", "event", "exchange_closed", "closed"])
        self.assertEqual([fact["sequence"] for fact in facts], [1, 2, 3, 4, 5])
        self.assertEqual({fact["part"] for fact in facts}, {1})
        self.assertEqual(facts[0]["cause"], {"source": "0199f3a2-4e10-7c22-9a4d-1f2e3d4c5b6a", "sequence": 4})
        self.assertEqual((facts[3]["exchange"], facts[3]["status"], facts[3]["received_bytes"]), (2, 200, 12))
        self.assertEqual(sorted(facts, key=lambda fact: fact["at_us"]), facts)

    def test_only_a_servers_own_failure_fails_its_part(self):
        for status in (200, 404, 503):
            self.request(status=status)
        self.assertEqual([fact["outcome"] for fact in self.facts() if "outcome" in fact], ["succeeded", "succeeded", "failed"])

    def test_of_an_error_its_words_are_not_kept(self):
        with self.assertRaises(PermissionError):
            with self.recorder.join(HEADER, 7, "GET", "/notes"):
                raise PermissionError(13, "s3cret")
        closed = self.facts()[-1]
        self.assertEqual(closed["outcome"], "failed")
        self.assertEqual(closed["error"], {"domain": "python.PermissionError", "code": 13})
        self.assertNotIn(b"s3cret", encoded(self.recorder.next_set(10)))

    def test_a_full_recorder_refuses_and_counts_but_closes_what_it_opened(self):
        recorder = Recorder("notes-server", "1.0.0", {}, capacity=3)
        with recorder.join(HEADER, 7, "GET", "/") as part:
            for _ in range(5):
                part.log(10)
            part.answered(200, 0, 0)
        with recorder.join(HEADER, 7, "GET", "/") as part:
            part.log(10)
        kinds = [fact["kind"] for fact in recorder.next_set(100)["sources"][0]["facts"]]
        self.assertEqual(kinds, ["opened", "exchange_opened", "event", "exchange_closed", "closed"])
        self.assertEqual(recorder.ledger(), {"recorded": 5, "delivered": 0, "quarantined": 0, "pending": 5, "refused": 5})

    def test_no_value_makes_a_set_that_cannot_be_read(self):
        with self.recorder.join(HEADER, 7, "GET", "/\udcff" + "x" * 5_000) as part:
            part.log(10, nan=float("nan"), big=2**60, lone="\ud800", none=None, yes=True, text="x" * 2_000)
        encoded(self.recorder.next_set(100))
        path, attributes = self.facts()[1]["path"], self.facts()[2]["attributes"]
        self.assertEqual(len(path), 4_096)
        self.assertEqual(attributes["nan"], "nan")
        self.assertEqual(attributes["big"], str(2**60))
        self.assertEqual(attributes["lone"], "?")
        self.assertIs(attributes["yes"], True)
        self.assertEqual(len(attributes["text"]), 1_024)
