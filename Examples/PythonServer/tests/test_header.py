import json
import random
import unittest
from pathlib import Path

from waybill import TransactionHeader

EXAMPLES = json.loads((Path(__file__).parents[3] / "Schemas/examples/header-field.json").read_text())


class HeaderTests(unittest.TestCase):
    def test_every_valid_field_of_the_schemas_examples_is_read(self):
        self.assertGreater(len(EXAMPLES["valid"]), 10)
        for example in EXAMPLES["valid"]:
            with self.subTest(example["value"]):
                expected = TransactionHeader(
                    example["transaction"], example["use_case"], example.get("source"), example.get("exchange"))
                self.assertEqual(TransactionHeader.parse(example["value"]), expected)

    def test_every_malformed_field_is_ignored(self):
        self.assertGreater(len(EXAMPLES["malformed"]), 40)
        for value in EXAMPLES["malformed"]:
            with self.subTest(value):
                self.assertIsNone(TransactionHeader.parse(value))

    def test_a_field_is_read_up_to_512_characters(self):
        start = EXAMPLES["valid"][1]["value"] + ';a="'
        self.assertIsNotNone(TransactionHeader.parse(start + "x" * (511 - len(start)) + '"'))
        self.assertIsNone(TransactionHeader.parse(start + "x" * (512 - len(start)) + '"'))

    def test_no_field_raises(self):
        numbers = random.Random(7)
        original = EXAMPLES["valid"][0]["value"]
        read = 0
        for _ in range(20_000):
            characters = list(original)
            for _ in range(numbers.randint(1, 3)):
                characters[numbers.randrange(len(characters))] = chr(numbers.randrange(256))
            read += TransactionHeader.parse("".join(characters)) is not None
        self.assertGreater(read, 100)
