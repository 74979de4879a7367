"""A collector that is asked too much, and files that say that they are stores: bounded, on loopback alone."""
import http.client
import json
import shutil
import sqlite3
import subprocess
import threading
import time
import urllib.parse

import pytest
from attacks import often
from sets import APP, Recorder, guid
from waybill import TIMEOUT, WAYBILL, Collector, execute

MEMORY_CEILING = 150 << 20
TRANSACTIONS = 40_000
READ_SECONDS = 2
# How long somebody waits for a list beside a slow question; one second on a quiet machine.
PATIENCE = 10


def fill(collector, count):
    """So many logins, all of which mention “login”."""
    for first in range(0, count, 5_000):
        recorder = Recorder(APP | {"app": "shop"}, 1_772_366_400_000_000 + first, {(0, "login"): {0: "initiated"}})
        for number in range(min(5_000, count - first)):
            recorder.open(number * 1_000, guid(), 0, attributes={"sku": f"A-{number}", "variant": "B"})
            recorder.add(number * 1_000 + 500, "finished", outcome="succeeded")
        collector.post(recorder.set())


def ask(collector, path, timeout=TIMEOUT, role="read"):
    """Status and document; status 0 where the connection was closed without an answer."""
    connection = http.client.HTTPConnection(collector.address, timeout=timeout)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {collector.tokens[role]}"})
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"{}")
    except (ConnectionResetError, http.client.RemoteDisconnected, http.client.IncompleteRead):
        return 0, {}
    finally:
        connection.close()


def filtered(terms, kind="transactions"):
    return f"/v1/{kind}?limit=20&filter=" + urllib.parse.quote(" ".join(terms))


def words(count, salt=""):
    """Conditions that nothing passes, which is known of no transaction before its last word."""
    return [f"-absent{salt}x{number}" for number in range(count - 1)] + ["-login"]


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    collector = serve(
        tmp_path_factory.mktemp("questions"), "--read-seconds", str(READ_SECONDS), roles=["ingest", "read"])
    fill(collector, TRANSACTIONS)
    return collector


def test_questions_that_nobody_asked_before_take_no_memory_for_good(collector, attack):
    with attack(collector, f"{often(400)} filters of 60 to 90 terms, 60 of 20 to 32") as tried:
        before = collector.memory("VmRSS")
        for number in range(often(400)):
            terms = [f"-w{number}x{term}" for term in range(60 + number % 31)]
            status, problem = ask(collector, filtered(terms))
            tried.count += 1
            assert status == 400 and problem["detail"] == "A filter has at most 32 terms. Leave some out."
        for number in range(60):
            # Each is another statement, and finds its page at once, but where the machine has no time for it.
            status, page = ask(collector, filtered([f"-w{number}x{term}" for term in range(20 + number % 13)]))
            tried.count += 1
            assert status == 422 or len(page["rows"]) == 20
        after = collector.memory("VmRSS")
        assert after < MEMORY_CEILING
        tried.held = f"more than 32 terms are refused with 400; memory {before >> 20} MB before, {after >> 20} MB after"


def test_many_transactions_with_one_support_code_are_told_in_few_words(serve, tmp_path, attack):
    """Whoever sends sets draws the IDs, and can have a look-up by a code that people read out answered with megabytes."""
    crowded = serve(tmp_path / "crowded", roles=["ingest", "read"])
    with attack(crowded, "20,000 transactions with one support code") as tried:
        for first in range(0, 20_000, 4_000):
            recorder = Recorder(APP | {"app": "shop"}, 1_772_366_400_000_000 + first, {})
            for number in range(first, first + 4_000):
                recorder.open(number, f"{number:08x}-ac96-774b-bcce-b302099a8057", 0)
            crowded.post(recorder.set())
            tried.count += 4_000
        status, problem = ask(crowded, f"/v1/transactions/{code_of('b302099a8057')}")
        assert status == 409 and len(problem["transactions"]) == 20 and "More than 20" in problem["detail"]
        assert len(json.dumps(problem)) < 4_000
        tried.held = f"409 with {len(json.dumps(problem))} bytes, which names 20 of them"


def code_of(identity):
    """The support code of an ID: its last 40 bits in Crockford's base 32."""
    number = int(identity.replace("-", "")[-10:], 16)
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> 5 * place & 31] for place in reversed(range(8)))


def test_a_question_that_takes_too_long_ends_and_holds_nobody_up(collector, attack):
    with attack(collector, f"one GET of 300 negated words, then two of 32, over {TRANSACTIONS:,} transactions") as tried:
        assert ask(collector, filtered(words(300)))[0] == 400
        slow, waits = [], []

        def hold(salt):
            begun = time.monotonic()
            slow.append((ask(collector, filtered(words(32, salt))), time.monotonic() - begun))

        threads = [threading.Thread(target=hold, args=[salt]) for salt in "ab"]
        for thread in threads:
            thread.start()
        for _ in range(2_000):
            begun = time.monotonic()
            status, page = ask(collector, "/v1/transactions?limit=20")
            waits.append(time.monotonic() - begun)
            assert status == 200 and len(page["rows"]) == 20
            if not any(thread.is_alive() for thread in threads):
                break
        for thread in threads:
            thread.join(TIMEOUT)
        tried.count += 3
        for (status, problem), seconds in slow:
            assert status == 422 and "Ask for less" in problem["detail"]
            assert seconds < READ_SECONDS + 20
        assert max(waits) < PATIENCE
        longest = max(seconds for _, seconds in slow)
        tried.held = (
            f"300 words: 400; 32 words: 422 after {longest:.1f} s; {len(waits)} lists beside them, "
            f"the slowest {max(waits):.2f} s")


@pytest.fixture(scope="module")
def patient(serve, tmp_path_factory):
    """One that gives a question ten minutes, and has two tokens to read."""
    collector = serve(tmp_path_factory.mktemp("patient"), "--read-seconds", "600", roles=["ingest", "read"])
    collector.tokens["other"] = execute(WAYBILL, "token", "add", collector.place, "--role", "read").stdout.strip()
    fill(collector, TRANSACTIONS // 2)
    return collector


def ask_slowly(collector, count):
    """Connections on which was asked what takes minutes, and nothing is read."""
    connections = []
    for number in range(count):
        connections.append(connection := http.client.HTTPConnection(collector.address, timeout=TIMEOUT))
        headers = {"Authorization": f"Bearer {collector.tokens['read']}"}
        connection.request("GET", filtered(words(32, f"z{number}")), headers=headers)
    return connections


def wait_until(met, what):
    for _ in range(3_000):
        if met():
            return
        time.sleep(0.01)
    raise AssertionError(f"in 30 s it did not come to it that {what}")


def test_who_asks_slow_questions_all_the_time_is_not_alone(patient, attack):
    """Breaks when one token can have all that read: its questions take minutes, and all others wait for them."""
    with attack(patient, "eight clients of one token that ask what takes minutes") as tried:
        before, waits = patient.worked(), []
        connections = ask_slowly(patient, 8)
        tried.count += len(connections)
        wait_until(lambda: patient.worked() - before > 1_000, "it is busy")
        for _ in range(20):
            begun = time.monotonic()
            status, page = ask(patient, "/v1/transactions?limit=20", role="other")
            waits.append(time.monotonic() - begun)
            assert status == 200 and len(page["rows"]) == 20
        for connection in connections:
            connection.close()
        assert max(waits) < PATIENCE
        tried.held = f"20 lists of another token beside them, the slowest {max(waits):.2f} s"


def test_who_hangs_up_is_not_worked_for(patient, attack):
    """Breaks when what nobody waits for is looked for all the same: eight who hang up would hold all for minutes."""
    with attack(patient, "eight slow questions whose clients hang up") as tried:
        before = patient.worked()
        connections = ask_slowly(patient, 8)
        tried.count += len(connections)
        wait_until(lambda: patient.worked() - before > 1_000, "it is busy")
        for connection in connections:
            connection.close()
        begun = time.monotonic()
        status, page = ask(patient, "/v1/transactions?limit=20")
        wait = time.monotonic() - begun
        assert status == 200 and len(page["rows"]) == 20 and wait < PATIENCE
        tried.held = f"a list of the same token came {wait:.2f} s after they had hung up"


def test_a_collector_that_is_busy_with_a_question_ends_when_it_is_asked_to(tmp_path):
    with Collector(tmp_path / "busy", "--read-seconds", "600", roles=["ingest", "read"]) as collector:
        fill(collector, TRANSACTIONS // 2)
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(ask(collector, filtered(words(32, salt)), 600)))
            for salt in "abcde"]
        for thread in threads:
            thread.start()
        idle = collector.worked()
        for _ in range(6_000):
            if collector.worked() - idle > 1_000:
                break
            time.sleep(0.01)
        assert collector.process.poll() is None and not answers, "it is busy still"
        begun = time.monotonic()
        assert collector.end() == 0
        assert time.monotonic() - begun < 30
        for thread in threads:
            thread.join(TIMEOUT)
        assert all(status in (0, 503) for status, _ in answers)


ENDLESS = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n)"
SCHEMAS = {
    "an endless view": (
        f"DROP TABLE names; CREATE VIEW names AS {ENDLESS} SELECT x AS use_case, -1 AS event, 'a' AS app, "
        "'1' AS app_version, 'n' AS name FROM n", "names"),
    "an endless view of sources": (
        f"ALTER TABLE sources RENAME TO others; CREATE VIEW sources AS {ENDLESS} SELECT o.* FROM n, others o", "sources"),
    "a generated column": (
        "DROP TABLE events; CREATE TABLE events(source, part, after, at_us, code, "
        "detail AS (hex(zeroblob(500000000))), sequence)", "events"),
    "a trigger": ("CREATE TRIGGER quiet AFTER INSERT ON parts BEGIN DELETE FROM parts; END", "quiet"),
    "no version": ("PRAGMA user_version = -1", "is not a Waybill store"),
}


@pytest.fixture(scope="module")
def store(serve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    with Collector(folder / "honest", roles=["ingest"]) as collector:
        fill(collector, 10)
    connection = sqlite3.connect(folder / "honest" / "waybill.sqlite")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return folder / "honest" / "waybill.sqlite"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_file_whose_schema_is_somebody_elses_is_refused_with_one_sentence(name, store, tmp_path):
    script, what = SCHEMAS[name]
    file = tmp_path / "handed-over.sqlite"
    shutil.copy(store, file)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA legacy_alter_table = ON")
    connection.executescript(script)
    connection.close()
    before = file.read_bytes()
    for verb in (["list"], ["verify"], ["serve", "--port", "0"], ["list", "--network"], ["ask", "summary"]):
        words = [verb[0], file, *verb[1:]] if verb[0] != "ask" else ["ask", verb[1], file]
        done = subprocess.run(
            [WAYBILL, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 1, f"{verb}: {done.stdout}{done.stderr}"
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1 and what in lines[0] and str(file) in lines[0], f"{verb}: {done.stderr}"
    assert file.read_bytes() == before


def test_a_store_with_a_view_of_ones_own_is_shown(store, tmp_path):
    file = tmp_path / "mine.sqlite"
    shutil.copy(store, file)
    connection = sqlite3.connect(file)
    connection.executescript(f"CREATE VIEW mine AS {ENDLESS} SELECT x FROM n; CREATE INDEX by_code ON events(code); ANALYZE")
    connection.close()
    done = subprocess.run([WAYBILL, "verify", file], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
