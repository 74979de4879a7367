"""Increments in a bucket, whose runs are killed wherever something changes there: each fact once, for every reader."""
import gzip
import hashlib
import json
import os
import random
import subprocess
import threading

import pytest
from jsonschema import Draft202012Validator
from s3 import SECRET, Store
from sets import APP, Recorder, guid, now
from waybill import ROOT, TIMEOUT, WAYBILL, execute, in_sqlite

INCREMENT = Draft202012Validator(json.loads((ROOT / "Schemas/increment.v1.schema.json").read_text()))


class Collected:
    """A store to which logins are added."""

    def __init__(self, folder):
        self.folder, self.outbox, self.chance = folder / "store", folder / "outbox", random.Random(20261124)
        self.outbox.mkdir()
        self.add()

    def add(self, logins=3):
        app = Recorder(APP, now())
        for number in range(logins):
            at, variant, luck = 100_000 * number, self.chance.choice("AB"), self.chance.random()
            app.open(at, guid(), 0, attributes={"variant": variant})
            for event in range(1 if luck < 0.1 else 2 if luck < 0.2 else 3):
                app.add(at + 100 + event, "event", event=event)
            if luck > (0.6 if variant == "A" else 0.4):
                app.add(at + self.chance.randrange(1_000, 90_000), "finished", outcome="succeeded")
        (self.outbox / "0.waybill-set.v1.json").write_text(json.dumps(app.set()))
        execute(WAYBILL, "import", self.outbox, "--to", self.folder)

    def facts(self):
        count = "SELECT (SELECT count(guid) + count(closed) FROM parts) + (SELECT count(*) FROM events)"
        return in_sqlite(self.folder / "waybill.sqlite", count)[0][0]

    def export(self, lake, environment, *options):
        """A run that is under way."""
        return subprocess.Popen(
            [str(WAYBILL), "export", str(self.folder), "--incremental", str(lake), *options], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | environment)


@pytest.fixture
def collected(tmp_path):
    return Collected(tmp_path)


@pytest.fixture
def bucket(tmp_path):
    """`bucket(**options)`: a store with a bucket `facts`, of which our prefix is `shop/eu 1`."""
    running = []

    def start(**options):
        running.append(Store(tmp_path / "buckets", **options))
        return running[-1]

    yield start
    for store in running:
        store.__exit__()


PLACE, FOLDER = "s3://facts/shop/eu 1", "buckets/facts/shop/eu 1"


def ended(run):
    output, errors = run.communicate(timeout=TIMEOUT)
    assert SECRET not in output + errors
    return run.returncode, output, errors


def read(lake):
    """What a reader of increments finds: (source, sequence) of each line; each file is what its name says."""
    rows, listed = [], set()
    for number, file in enumerate(sorted((lake / "increments").iterdir()), 1):
        increment = json.loads(file.read_bytes())
        INCREMENT.validate(increment)
        assert increment["number"] == number and file.name == f"{number:09}.json"
        for part in increment["files"]:
            data = (lake / part["name"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() in part["name"] and len(data) == part["bytes"]
            lines = (gzip.decompress(data) if part["name"].endswith(".gz") else data).splitlines()
            assert part.get("facts", len(lines)) == len(lines)
            rows += [(row["source"], row["sequence"]) for row in map(json.loads, lines)]
            listed.add(part["name"])
    left = {f"facts/{file.name}" for file in (lake / "facts").iterdir()} - listed
    return rows, left


def assert_each_fact_once(lake, collected):
    rows, left = read(lake)
    assert len(rows) == len(set(rows)) == collected.facts()
    return left


def test_runs_add_to_a_bucket_what_is_new(bucket, collected, tmp_path):
    store = bucket()
    for run in range(4):
        code, output, _ = ended(collected.export(PLACE, store.environment, "--gzip"))
        assert code == 0 and output.startswith(f"{PLACE}/facts/") and output.endswith(".ndjson.gz\n")
        code, output, errors = ended(collected.export(PLACE, store.environment, "--gzip"))
        assert (code, output, errors) == (0, "", "Nothing is new.\n")
        collected.add()
    collected.export(PLACE, store.environment).communicate(timeout=TIMEOUT)
    assert assert_each_fact_once(tmp_path / FOLDER, collected) == set()


# The first run puts lake.json, and again, then facts, then the increment.
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("put", [1, 2, 3, 4])
def test_a_run_that_is_killed_and_repeated_with_other_facts_exports_each_once(put, when, bucket, collected, tmp_path):
    store = bucket()
    store.harm[put] = when
    store.victim = collected.export(PLACE, store.environment)
    store.known.set()
    assert store.victim.wait(TIMEOUT) < 0, "it was killed"
    ended(store.victim)
    collected.add()
    assert ended(collected.export(PLACE, store.environment))[0] == 0
    left = assert_each_fact_once(tmp_path / FOLDER, collected)
    is_cut = (put, when) in {(3, "after"), (4, "before")}
    assert len(left) == is_cut, "what was put and never listed stays, and counts for nothing"


def test_what_a_later_run_puts_may_be_killed_too(bucket, collected, tmp_path):
    store = bucket()
    assert ended(collected.export(PLACE, store.environment))[0] == 0
    for put, when in [(2, "after"), (3, "before"), (3, "after")]:
        collected.add()
        store.harm, store.puts, store.known = {put: when}, 0, threading.Event()
        store.victim = collected.export(PLACE, store.environment)
        store.known.set()
        assert store.victim.wait(TIMEOUT) < 0, "it was killed"
        ended(store.victim)
    collected.add()
    assert ended(collected.export(PLACE, store.environment))[0] == 0
    assert_each_fact_once(tmp_path / FOLDER, collected)


def test_answers_that_are_lost_and_a_store_that_has_no_time_change_nothing(bucket, collected, tmp_path):
    store = bucket()
    # lake.json; its second; facts, twice; the increment, twice.
    store.harm = {1: "lost", 4: "busy", 5: "lost", 7: "lost"}
    code, _, errors = ended(collected.export(PLACE, store.environment))
    assert code == 0, errors
    assert assert_each_fact_once(tmp_path / FOLDER, collected) == set()


def test_of_two_runs_at_once_one_counts(bucket, collected, tmp_path):
    store = bucket()

    def overtake():
        collected.add()
        assert ended(collected.export(PLACE, store.environment))[0] == 0

    # Before the first has put its increment, a second one runs, with more facts.
    store.harm[4] = overtake
    code, _, errors = ended(collected.export(PLACE, store.environment))
    assert code == 1 and "Another run" in errors
    assert len(assert_each_fact_once(tmp_path / FOLDER, collected)) == 1


def test_a_store_that_replaces_what_it_has_is_refused_before_any_fact_is_there(bucket, collected, tmp_path):
    store = bucket(replaces=True)
    code, _, errors = ended(collected.export(PLACE, store.environment))
    assert code == 1 and "If-None-Match" in errors
    assert [file.name for file in (tmp_path / FOLDER).iterdir()] == ["lake.json"]


@pytest.mark.parametrize("wrong, hint", [
    ({"AWS_SECRET_ACCESS_KEY": "another"}, "SignatureDoesNotMatch"),
    ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "Set AWS_ACCESS_KEY_ID"),
    ({"AWS_REGION": "us-west-2"}, "SignatureDoesNotMatch"),
    ({"AWS_ACCESS_KEY_ID": ""}, "one is missing"),
    ({"AWS_ENDPOINT_URL": "nowhere"}, "AWS_ENDPOINT_URL is no HTTP URL"),
])
def test_who_may_not_is_told_so(wrong, hint, bucket, collected, tmp_path):
    store = bucket()
    code, _, errors = ended(collected.export(PLACE, store.environment | wrong))
    assert code == 1 and hint in errors
    assert not (tmp_path / FOLDER).exists()


def test_a_folder_has_the_same_form(collected, tmp_path):
    for _ in range(2):
        assert ended(collected.export(tmp_path / "lake", {}, "--gzip"))[0] == 0
        collected.add()
    assert ended(collected.export(tmp_path / "lake", {}))[0] == 0
    assert assert_each_fact_once(tmp_path / "lake", collected) == set()
