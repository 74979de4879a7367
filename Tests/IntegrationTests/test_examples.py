"""The examples as their READMEs tell them, with real collectors: what they print is what the READMEs show."""
import difflib
import http.client
import json
import os
import re
import shlex
import signal
import sys
import time
from types import SimpleNamespace

import pytest
from waybill import MEDIA_TYPE, TIMEOUT, PRODUCTS, ROOT, Collector, Service, execute, waybill

sys.path.append(str(ROOT / "Schemas"))
import validate  # noqa: E402

pytestmark = pytest.mark.timeout(4 * TIMEOUT)


class Notes:
    """A collector, the server in Python and the tool in Swift, each with a fresh folder."""

    def __init__(self, folder):
        self.folder, self.collected, self.undelivered = folder, folder / "collected", folder / "undelivered"
        self.notes = folder / "notes"
        self.notes.mkdir()
        self.collector = self.collect()
        self.server = self.start_server()

    def collect(self, *options):
        return Collector(self.collected, "--insecure", *options)

    def start_server(self):
        return Service(
            sys.executable, ROOT / "Examples/PythonServer/server.py", "--port", "0", "--collector", self.collector.url,
            "--undelivered", self.undelivered, stderr=open(self.folder / "server.log", "a"))

    def sync(self, path="", collector=True, **environment):
        """What the tool prints, as it knows the collector or does not."""
        if collector:
            environment["WAYBILL_COLLECTOR"] = self.collector.url
        done = execute(
            PRODUCTS / "SyncNotes", self.server.url + path, self.notes, XDG_STATE_HOME=str(self.folder / "state"),
            **environment)
        assert done.stderr == "", "it complains of nothing"
        return done.stdout

    def when_merged(self, count):
        """The records, newest first, once so many transactions have both a client's and a server's part, closed."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            rows = json.loads(waybill("list", self.collected, "--json"))["rows"]
            records = [json.loads(waybill("show", self.collected, row["id"], "--json")) for row in rows]
            if [sum("closed_us" in part for part in record["parts"]) for record in records] == [2] * count:
                return records
            assert time.monotonic() < deadline, f"{count} transactions are merged from client and server: {records}"
            time.sleep(0.1)

    def is_sound(self, count):
        verdict = waybill("verify", self.collected)
        return verdict.startswith(f"sound: {count} transactions") and "remark" not in verdict


@pytest.fixture
def notes(tmp_path):
    notes = Notes(tmp_path)
    yield notes
    for service in (notes.server, notes.collector):
        service.process.kill()
        service.process.wait(TIMEOUT)


def test_the_tool_stores_nothing_where_recording_is_off(notes):
    assert_shown("CommandLineTool", notes.sync(WAYBILL_RECORDING="off"))
    assert not (notes.folder / "state").exists()


def test_a_sync_is_one_transaction_of_tool_and_server(notes):
    assert_shown("CommandLineTool", notes.sync())
    assert_shown("CommandLineTool", notes.sync("/nowhere"))
    _, record = notes.when_merged(2)
    assert_shown("PythonServer", waybill("show", notes.collector.url, record["summary"]["id"]))
    assert waybill("list", notes.collector.url)
    assert record["summary"]["outcome"] == "succeeded"
    assert [source["app"] for source in record["sources"]] == ["SyncNotes", "notes-server"], "who took part"
    begun, joined = record["parts"]
    sent, received = sorted(record["exchanges"], key=lambda exchange: exchange["role"])
    assert (begun["is_joined"], joined["is_joined"]) == (False, True)
    assert joined["cause"] == sent["id"], "the request is what caused the server's part"
    assert (sent["status"], received["status"]) == (200, 200), "the exchange from both ends"
    assert sent["received_byte_count"] == received["received_byte_count"], "the response's size from both ends"
    labels = [entry["label"] for entry in record["timeline"] if entry["kind"] == "event"]
    assert labels == ["started", "serverStarted", "notesRead", "notesReceived", "notesWritten"], "in their order"
    assert sorted(file.name for file in notes.notes.iterdir()) == ["ideas", "shopping"], "the notes that were written"
    assert notes.is_sound(2)


def test_a_collector_that_hangs_holds_up_no_request_and_what_was_recorded_meanwhile_arrives(notes):
    notes.collector.process.send_signal(signal.SIGSTOP)
    assert_shown("CommandLineTool", notes.sync(collector=False))
    notes.collector.process.send_signal(signal.SIGCONT)
    assert_shown("CommandLineTool", notes.sync())
    notes.when_merged(2)
    assert notes.is_sound(2)


def test_the_server_tries_again_until_there_is_a_collector_at_the_same_address(notes):
    notes.collector.end(signal.SIGKILL)
    notes.sync(collector=False)
    notes.collector = notes.collect("--port", notes.collector.url.rsplit(":")[-1])
    notes.sync()
    notes.when_merged(2)
    assert notes.is_sound(2)


def test_what_the_server_could_not_deliver_is_left_for_an_import(notes):
    notes.collector.end(signal.SIGKILL)
    notes.sync(collector=False)
    assert notes.server.end() == 0
    [left] = notes.undelivered.iterdir()
    assert validate.fault(left, validate.load_validators()) is None, "a set of the Python client fits the schemas"
    waybill("import", left, "--to", notes.collected)
    notes.collector = notes.collect()
    notes.server = notes.start_server()
    notes.sync()
    notes.when_merged(2)
    assert notes.server.end() == 0
    assert notes.is_sound(2)


def test_the_python_server_passes_its_own_tests():
    done = execute(sys.executable, "-m", "unittest", cwd=ROOT / "Examples/PythonServer")
    assert re.search(r"^Ran [1-9][0-9]* tests? ", done.stderr, re.MULTILINE)


def test_the_demo_prints_what_its_readme_shows(demo):
    assert_shown("Login", (demo / "printed.txt").read_text())


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory):
    """What 120 visits to the shop printed, and the store of their collector, when app and server have delivered."""
    folder = tmp_path_factory.mktemp("checkouts")
    with Collector(folder / "collected", "--insecure") as collector:
        environment = {"WAYBILL_COLLECTOR": collector.url, "XDG_STATE_HOME": str(folder / "state")}
        with Service(PRODUCTS / "CheckoutServer", env=os.environ | environment) as server:
            app = execute(PRODUCTS / "CheckoutApp", server.url, **environment)
    return SimpleNamespace(app=app, collected=folder / "collected")


def test_checkouts_print_what_the_readme_shows(checkouts):
    assert_shown("Checkout", checkouts.app.stdout)
    told = checkouts.app.stderr.splitlines()
    assert len(told) == 1 and "URLSession has no WebSocket here" in told[0], "one sentence, told once"


def test_questions_about_checkouts_have_the_answers_that_the_readme_shows(checkouts):
    readme = (ROOT / "Examples/Checkout/README.md").read_text()
    questions = re.findall(r"^waybill ((?:ask|list) .*)$", readme, re.MULTILINE)
    assert len(questions) == 6, "the README asks what is tried here"
    shapes = {"ask duration": values_and_counts, "list collected": shape}
    for question in questions:
        words, _, lines = question.partition(" | head -n ")
        printed = waybill(*[checkouts.collected if word == "collected" else word for word in shlex.split(words)])
        head = "\n".join(printed.splitlines()[:int(lines or 500)])
        assert_shown("Checkout", head, shapes.get(" ".join(words.split()[:2]), same))


@pytest.mark.parametrize("use_case", ["checkout", "payment"])
def test_a_checkout_whose_bank_was_down_and_its_payment_look_as_the_readme_shows(checkouts, use_case):
    found = json.loads(waybill("list", checkouts.collected, f"useCase:{use_case} error:bankIsDown", "--json"))
    assert_shown("Checkout", waybill("show", checkouts.collected, found["rows"][0]["id"]))


def test_price_updates_that_failed_are_all_delivered_and_answers_weigh_the_others(checkouts):
    asked = ("summary", checkouts.collected, "--use-case", "priceUpdate")
    assert_shown("Checkout", waybill("ask", *asked))
    answer = json.loads(waybill("ask", *asked, "--json"))
    assert answer["use_cases"][0]["outcomes"]["failed"] == 5 and answer["weighed"], "every 24th of 120 failed"
    assert "sampled" in waybill("verify", checkouts.collected), "the others are booked"


def test_a_service_with_users_has_a_collector_of_which_each_sees_their_part(tmp_path):
    with Service(PRODUCTS / "OwnCollector", tmp_path / "collected") as service:
        def ask(method, path, body=None, **fields):
            connection = http.client.HTTPConnection(service.address, timeout=TIMEOUT)
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
            response = connection.getresponse()
            answer = response.status, response.read().decode(), response.getheader("Set-Cookie")
            connection.close()
            return answer

        def log_in(name, password):
            status, _, cookie = ask("POST", "/session", json.dumps({"name": name, "password": password}),
                                    Content_Type="application/json")
            return status, cookie and cookie.partition(";")[0]

        body = (ROOT / "Schemas/examples/valid/login-from-client.json").read_bytes()
        north = {"Authorization": "Bearer north-5f1c0b7e2a9d", "Content_Type": MEDIA_TYPE}
        for accepted, known in [(7, 0), (0, 7)]:
            receipt = json.loads(ask("POST", "/v1/sets", body, **north)[1])
            assert (receipt["accepted"], receipt["known"]) == (accepted, known), "the client forgets all facts"
        assert_shown("OwnCollector", f"listening on {service.url}\n" + service.process.stdout.readline())
        assert_shown("OwnCollector", ask("GET", "/v1/sources")[1], same)
        assert ask("POST", "/v1/sets", body, Authorization="Bearer else")[0] == 401
        assert log_in("ann", "wrong") == (401, None)
        (_, ann), (_, bob) = log_in("ann", "correct horse"), log_in("bob", "battery staple")
        [source] = json.loads(ask("GET", "/v1/sources", Cookie=ann)[1])["rows"]
        assert_shown("OwnCollector", json.dumps(source["ledger"], sort_keys=True, separators=(",", ":")), same)
        assert_shown("OwnCollector", ask("POST", "/v1/sets", body, Cookie=ann, Content_Type=MEDIA_TYPE)[1], same)
        assert json.loads(ask("GET", "/v1/sources", Cookie=bob)[1])["rows"] == [], "another shop's"
        assert ask("GET", "/transactions", Cookie=ann)[0] == 200, "the pages know the session"
        assert ask("GET", "/transactions")[0] == 401


def shape(text):
    """Lines without what differs from run to run: IDs, times, numbers, and the blanks that line them up."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", line)
        line = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b", "CODE", line)
        line = re.sub(r"x86_64|aarch64|arm64", "MACHINE", line)
        line = re.sub(r"[+-]?\d+(\.\d+)? (µs|ms|s)\b", "0", line)
        line = re.sub(r"reason=(wrong password|unknown user)", "reason=R", re.sub(r"variant=[AB]", "variant=V", line))
        line = re.sub(r"\d+(\.\d+)?", "0", line)
        line = re.sub(r"[~─●✕▒▓░█├┤]+( +[~─●✕▒▓░█├┤]+)*", "BAR", line)  # as long as it took
        line = re.sub(r"^ *0( +0)+$", "0", line)  # its scale
        line = re.sub(r" · [^·]*…", " …", line)  # a label that has no room
        lines.append(" ".join(line.split()))
    return [line for line in lines if line]


def same(text):
    """Lines that are the same at every run, but for the small chart, which has a bar for each day."""
    return [" ".join(line.rstrip(" ▁▂▃▄▅▆▇█").split()) for line in text.splitlines() if line.strip()]


def values_and_counts(text):
    """The beginnings of lines: what transactions have in common, and how many there are. The times are left out."""
    return [" ".join(line.split()[:2]) for line in text.splitlines() if line.strip()]


def assert_shown(example, printed, shape=shape):
    """A `text` block of the README is what was printed, but for what `shape` leaves out: times and the like."""
    readme = (ROOT / "Examples" / example / "README.md").read_text()
    blocks = [shape(block) for block in re.findall(r"^```text\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)]
    closest = max(blocks, key=lambda block: difflib.SequenceMatcher(None, block, shape(printed)).ratio())
    difference = "\n".join(difflib.unified_diff(closest, shape(printed), "README.md", "printed", lineterm=""))
    assert not difference, f"Examples/{example}/README.md does not show what is printed:\n{difference}\n\n{printed}"
