"""The command in hostile hands: a folder that somebody else can write to, a collector that wants the token or the memory
of its client, and texts that are for the terminal or the spreadsheet of whoever looks at them."""
import csv
import io
import json
import os
import pty
import select
import signal
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sets import APP, HOSTILE, Recorder, guid
from waybill import MEDIA_TYPE, TIMEOUT, WAYBILL, execute

TOKEN = "waybill_read_0123456789abcdef0123456789abcdef"
SOMEBODY = 65534  # another user: `nobody`
MEMORY_CEILING = 150 << 20
# What a terminal obeys: escape sequences of both kinds, a title, a backspace; and text that turns its direction.
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[201~\u009b31m\x08\x7f\u202e hostile-terminal"
FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1+1)", "\t=1+1", "\r=1+1", "'=1+1"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_all(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        try:
            self.server.answer(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_DELETE = handle_all

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **fields}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def server(answer):
    """A server on loopback that is no collector; `seen` has every request."""
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads, running.answer, running.seen = True, answer, []
    running.port = running.server_address[1]
    running.url = f"http://127.0.0.1:{running.port}"
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield running
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


def run(*arguments, **environment):
    """A command to its end, well or not."""
    return subprocess.run(
        [str(word) for word in (WAYBILL, *arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TIMEOUT, env=os.environ | {"WAYBILL_TOKEN": ""} | environment)


def on_terminal(*arguments):
    """What a terminal gets of a command, and its exit status."""
    screen, end = pty.openpty()
    environment = os.environ | {"NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8", "WAYBILL_TOKEN": ""}
    process = subprocess.Popen(
        [str(word) for word in (WAYBILL, *arguments)], stdin=subprocess.DEVNULL, stdout=end, stderr=end, env=environment)
    os.close(end)
    output = b""
    try:
        while select.select([screen], [], [], TIMEOUT)[0]:
            piece = os.read(screen, 65536)
            if not piece:
                break
            output += piece
    except OSError:
        pass  # EIO: the other end is closed
    finally:
        os.close(screen)
        process.kill()
    return output.decode(errors="surrogateescape"), process.wait(TIMEOUT)


def a_set(text, name=None):
    """A transaction with a text wherever a set has one."""
    name = text if name is None else name
    recorder = Recorder({key: text for key in APP}, 1_772_366_400_000_000, {(0, name): {1: name}})
    recorder.open(0, guid(), 0, attributes={"said": text})
    recorder.add(10, "event", event=1, attributes={"said": text}, error={"domain": text, "code": 1, "text": text})
    recorder.request(20, 900, "/" + text, 500, host="host.example", fields=[["X-Said", text]])[1]()
    recorder.add(1000, "finished", outcome="failed", error={"domain": text, "code": -2, "text": text})
    return recorder.set()


@pytest.fixture(scope="module")
def outbox(tmp_path_factory):
    """Sets in files: one harmless transaction, texts for terminals, and formulas."""
    folder = tmp_path_factory.mktemp("outbox")
    for number, text in enumerate(["harmless", ESCAPES, *FORMULAS, *HOSTILE[:3]]):
        (folder / f"{number}.waybill-set.v1.json").write_text(json.dumps(a_set(text)))
    return folder


@pytest.fixture(scope="module")
def store(outbox, tmp_path_factory):
    place = tmp_path_factory.mktemp("store") / "store"
    execute(WAYBILL, "import", outbox, "--to", place)
    return place


# A folder that others can write to, as /tmp is one.

@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def victim(tmp_path):
    file = tmp_path / "victim"
    file.write_text("precious")
    return file


WRITERS = {
    "ndjson": lambda store, file: ("export", store, "--output", file),
    "csv": lambda store, file: ("export", store, "--format", "csv", "--output", file),
    "html": lambda store, file: ("export", store, "--format", "html", "--output", file),
    "har": lambda store, file: ("export", store, "--format", "har", "--output", file),
    "sqlite": lambda store, file: ("export", store, "--format", "sqlite", "--output", file),
    "backup": lambda store, file: ("backup", store / "waybill.sqlite", file),
    "token": lambda store, file: ("token", "add", file.parent, "--role", "read"),
}


@pytest.mark.parametrize("verb", WRITERS)
@pytest.mark.parametrize("how", ["link", "file"])
def test_what_lies_where_a_file_is_made_is_neither_written_nor_kept(verb, how, store, shared, victim):
    file = shared / ("tokens" if verb == "token" else "facts")
    planted = shared / f".{file.name}.partial"
    if how == "link":
        planted.symlink_to(victim)
    else:
        planted.write_text("")
        os.chown(planted, SOMEBODY, SOMEBODY)
        planted.chmod(0o666)
    done = run(*WRITERS[verb](store, file))
    assert victim.read_text() == "precious", "what a link leads to is not written"
    assert done.returncode == 0, done.stderr
    status = file.lstat()
    assert stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o600 and status.st_uid == os.getuid()
    assert status.st_nlink == 1 and sorted(shared.iterdir()) == sorted([planted, file]), "nothing else is left"


@pytest.mark.parametrize("name", ["facts", "increments"])
def test_a_run_that_adds_to_a_folder_goes_by_nothing_that_somebody_has_put_there(name, store, shared):
    planted = shared / name
    planted.mkdir()
    os.chown(planted, SOMEBODY, SOMEBODY)
    done = run("export", store, "--incremental", shared)
    assert done.returncode == 1 and str(planted) in done.stderr, "it says what is in the way"


def test_a_run_that_adds_to_a_folder_makes_what_nobody_else_can_write_to(store, shared):
    assert run("export", store, "--incremental", shared).returncode == 0
    assert {stat.S_IMODE((shared / name).stat().st_mode) for name in ("facts", "increments")} == {0o700}
    assert stat.S_IMODE((shared / "lake.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["waybill.sqlite-lock", "waybill.sqlite-queue"])
@pytest.mark.parametrize("how", ["link", "hard link", "file", "pipe"])
def test_a_lock_that_somebody_has_put_there_is_refused_with_one_sentence(name, how, outbox, shared, tmp_path, victim):
    planted, elsewhere = shared / name, tmp_path / "made by the link"
    if how == "link":
        planted.symlink_to(elsewhere)
    elif how == "hard link":
        os.link(victim, planted)
    elif how == "pipe":
        os.mkfifo(planted)
    else:
        planted.write_text("")
        os.chown(planted, SOMEBODY, SOMEBODY)
        planted.chmod(0o666)
    done = run("import", outbox, "--to", shared)
    assert not elsewhere.exists(), "nothing is made by way of a link"
    assert victim.read_text() == "precious"
    assert done.returncode == 1 and str(planted) in done.stderr, "it says which file is in the way"


@pytest.mark.parametrize("suffix", ["", "-salvaged"])
def test_a_store_that_somebody_has_put_there_is_not_taken_over(suffix, outbox, store, shared):
    planted = shared / f"waybill.sqlite{suffix}"
    planted.write_bytes((store / "waybill.sqlite").read_bytes())
    os.chown(planted, SOMEBODY, SOMEBODY)
    planted.chmod(0o666)
    done = run("import", outbox, "--to", shared)
    if suffix:
        assert done.returncode == 0 and planted.exists(), "it lies there still"
        assert (shared / "waybill.sqlite").lstat().st_uid == os.getuid()
    else:
        assert done.returncode == 1 and "belongs to another user" in done.stderr


# A file of tokens says who may ask a collector: one that somebody has put there would let them in.

PLANTED = "00000000\tadmin\twaybill\t2026-01-01\t" + "0" * 64 + "\n"
TRUSTING = {
    "add": lambda folder: ("token", "add", folder, "--role", "read"),
    "list": lambda folder: ("token", "list", folder),
    "serve": lambda folder: ("serve", folder, "--port", "0"),
}


@pytest.mark.parametrize("verb", TRUSTING)
@pytest.mark.parametrize("how", ["link", "hard link", "file", "pipe"])
def test_tokens_that_somebody_has_put_there_are_not_trusted(verb, how, shared, tmp_path):
    planted, elsewhere = shared / "tokens", tmp_path / "elsewhere"
    elsewhere.write_text(PLANTED)
    if how == "link":
        planted.symlink_to(elsewhere)
    elif how == "hard link":
        os.link(elsewhere, planted)
    elif how == "pipe":
        os.mkfifo(planted)
    else:
        planted.write_text(PLANTED)
        os.chown(planted, SOMEBODY, SOMEBODY)
    done = run(*TRUSTING[verb](shared))
    assert done.returncode == 1 and str(planted) in done.stderr, "it says which file is in the way"
    assert elsewhere.read_text() == PLANTED
    assert planted.is_symlink() or how == "pipe" or planted.read_text() == PLANTED, "nothing was added to it"


FOLDERS = TRUSTING | {
    "import": lambda folder: ("import", "OUTBOX", "--to", folder),
    "increments": lambda folder: ("export", "STORE", "--incremental", folder),
    "backup": lambda folder: ("backup", folder, "BACKUP"),
}


@pytest.mark.parametrize("verb", FOLDERS)
@pytest.mark.parametrize("how", ["link", "link of another user", "folder"])
def test_a_folder_that_somebody_has_put_there_is_not_trusted(verb, how, outbox, store, shared, tmp_path):
    planted, elsewhere = shared / "collected", tmp_path / "elsewhere"
    if how == "folder":
        planted.mkdir()
        os.chown(planted, SOMEBODY, SOMEBODY)
    else:
        elsewhere.mkdir()
        planted.symlink_to(elsewhere)
        if how == "link of another user":
            os.chown(planted, SOMEBODY, SOMEBODY, follow_symlinks=False)
    inside = planted if how == "folder" else elsewhere
    if verb == "backup":
        (inside / "waybill.sqlite").write_bytes((store / "waybill.sqlite").read_bytes())
    before = sorted(inside.iterdir())
    names = {"OUTBOX": outbox, "STORE": store, "BACKUP": tmp_path / "backup"}
    done = run(*(names.get(word, word) for word in FOLDERS[verb](planted)))
    assert done.returncode == 1 and str(planted) in done.stderr, "it says which folder is in the way"
    assert sorted(inside.iterdir()) == before, "nothing is made in it"
    assert not (tmp_path / "backup").exists()


def test_a_folder_of_ones_own_may_be_a_link_where_nobody_else_can_write(outbox, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "collected").symlink_to(tmp_path / "disk")
    execute(WAYBILL, "import", outbox, "--to", tmp_path / "collected")
    assert (tmp_path / "disk" / "waybill.sqlite").exists()


def test_others_cannot_read_an_export_while_it_comes_and_nothing_is_left_of_it(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    begun, go_on = threading.Event(), threading.Event()

    def answer(request):
        request.send_response(200)
        request.send_header("Waybill-Next-Cursor", "1")
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        for number in range(64):
            request.wfile.write(b"10000\r\n" + b"x" * 65535 + b"\n\r\n")
            request.wfile.flush()
            if number == 31:
                begun.set()
                go_on.wait(TIMEOUT)
        request.wfile.write(b"0\r\n\r\n")

    with server(answer) as collector:
        process = subprocess.Popen(
            [str(WAYBILL), "export", collector.url], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=os.environ | {"TMPDIR": str(folder), "WAYBILL_TOKEN": TOKEN})
        try:
            assert begun.wait(TIMEOUT)
            # Two megabytes are under way; what is kept of them is a file of the process, with or without a name.
            for _ in range(400):
                kept = [f"/proc/{process.pid}/fd/{number}" for number in os.listdir(f"/proc/{process.pid}/fd")]
                kept = [file for file in kept if os.readlink(file).startswith(str(folder))]
                if any(os.stat(file).st_size > 1 << 20 for file in kept):
                    break
                select.select([], [], [], 0.02)
            assert kept, "it is kept in the temporary folder"
            modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in folder.rglob("*")}
            modes |= {file: stat.S_IMODE(os.stat(file).st_mode) for file in kept}
            assert all(mode & 0o077 == 0 for mode in modes.values()), modes
            process.send_signal(signal.SIGKILL)
            process.wait(TIMEOUT)
            assert list(folder.iterdir()) == [], "killed, it leaves nothing"
        finally:
            go_on.set()
            process.kill()
            process.wait(TIMEOUT)


# A collector that wants the token.

ASKING = {
    "list": ("list",), "show": ("show", "K7QD-3M2X"), "ask": ("ask", "summary"), "verify": ("verify",),
    "export": ("export",), "export csv": ("export", "--format", "csv"), "export har": ("export", "--format", "har"),
    "erase": ("erase", "--id", "01890a5d-ac96-774b-bcce-b302099a8057", "--yes"),
}


@pytest.mark.parametrize("verb", [*ASKING, "import"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_token_follows_no_redirect(verb, status, outbox):
    with server(lambda request: request.reply(200, b"{}")) as thief:
        there = f"http://localhost:{thief.port}/v1/stolen"
        with server(lambda request: request.reply(status, Location=there)) as collector:
            if verb == "import":
                first = sorted(outbox.iterdir())[0]
                done = run("import", first, "--to", collector.url, WAYBILL_TOKEN=TOKEN)
            else:
                words = ASKING[verb]
                done = run(words[0], *(words[1:2] if verb == "ask" else ()), collector.url,
                           *(words[2:] if verb == "ask" else words[1:]), WAYBILL_TOKEN=TOKEN)
            assert [TOKEN in fields.get("Authorization", "") for _, _, fields in collector.seen] == [True]
        assert thief.seen == [], "nothing goes to the other server, the token least of all"
        assert done.returncode == 1 and "redirect" in done.stderr, done.stderr
        assert len(done.stderr.strip().splitlines()) == 1, "one sentence says what to do"


# A collector that wants the memory of its client.

# A program's peak includes that of whoever started it, up to the moment at which it became another program: so a small
# one starts it, and not this one.
MEASURE = """import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss, os.waitstatus_to_exitcode(status))"""


def peak_of(*arguments):
    """Status, errors and the peak of a command's memory."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *(str(word) for word in (WAYBILL, *arguments))], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=TIMEOUT, env=os.environ | {"WAYBILL_TOKEN": TOKEN})
    peak, code = done.stdout.split()[-2:]
    return int(code), done.stderr, int(peak) << 10


@pytest.mark.parametrize("kind", ["application/vnd.waybill.receipt.v1+json", "text/html"])
@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("framing", ["chunked", "a length of 1 TB"])
def test_a_receipt_without_an_end_is_read_up_to_a_limit_and_counts_as_a_failure(kind, status, framing, outbox):
    sent = []

    def answer(request):
        request.send_response(status)
        request.send_header("Content-Type", kind)
        is_chunked = framing == "chunked"
        request.send_header(*(("Transfer-Encoding", "chunked") if is_chunked else ("Content-Length", str(1 << 40))))
        request.end_headers()
        piece = b" " * (1 << 20)
        for _ in range(1024):  # a gigabyte at most
            request.wfile.write(b"100000\r\n" + piece + b"\r\n" if is_chunked else piece)
            sent.append(len(piece))

    with server(answer) as collector:
        code, errors, peak = peak_of("import", sorted(outbox.iterdir())[0], "--to", collector.url)
    assert peak < MEMORY_CEILING, f"{peak >> 20} MB"
    assert code == 1 and "pending" in errors
    assert status != 200 or "longer" in errors or "sign-in" in errors, errors
    assert sum(sent) < 64 << 20, "it hangs up"


# Texts that are for a terminal or a spreadsheet.

SHOWING = {
    "list": ("list",), "list as JSON": ("list", "--json"), "list exchanges": ("list", "--network"),
    "ask": ("ask", "summary"), "ask as JSON": ("ask", "summary", "--json"), "ask as CSV": ("ask", "summary", "--csv"),
    "ask about the network": ("ask", "network", "--csv"), "verify": ("verify",),
    **{f"export {form}": ("export", "--format", form) for form in ("ndjson", "csv", "otlp", "har", "curl", "rules", "html")},
}


def words_of(words, place):
    return (words[0], words[1], place, *words[2:]) if words[0] == "ask" else (words[0], place, *words[1:])


def commands_in(text):
    """What a terminal would obey, but for the ends of lines, tabulators, and what takes our own progress away."""
    return {
        character for character in text.replace("\r\x1b[K", "")
        if ord(character) < 0x20 and character not in "\r\n\t" or 0x7F <= ord(character) < 0xA0
        or 0x202A <= ord(character) <= 0x202E or 0x2066 <= ord(character) <= 0x2069}


@pytest.mark.parametrize("what", SHOWING)
def test_no_verb_writes_what_a_terminal_obeys(what, store):
    text, status = on_terminal(*words_of(SHOWING[what], store))
    assert status == 0, text
    assert commands_in(text) == set(), text[:2000]


@pytest.mark.parametrize("key", ["transaction", "exchange"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_one_transaction_or_exchange_is_no_command_either(key, form, store):
    rows = json.loads(execute(WAYBILL, "list", store, "--json", "--limit", "200").stdout)["rows"]
    for row in [row for row in rows if "hostile-terminal" in json.dumps(row)]:
        name = row["id"]
        if key == "exchange":
            record = json.loads(execute(WAYBILL, "show", store, name, "--json").stdout)
            opened = record["exchanges"][0]["id"]
            name = f"{opened['source']}:{opened['sequence']}" if isinstance(opened, dict) else opened
        text, status = on_terminal("show", store, name, *form)
        assert status == 0 and "hostile-terminal" in text, text
        assert commands_in(text) == set()


def test_what_a_collector_answers_is_for_no_terminal():
    problem = json.dumps({"title": ESCAPES, "detail": ESCAPES, "status": 400}, ensure_ascii=False).encode()
    kind = {"Content_Type": "application/problem+json"}
    for form in (lambda request: request.reply(400, problem, **kind),
                 lambda request: request.reply(302, Location="http://localhost:1/\x1b[2J\x9b")):
        with server(form) as collector:
            for words in ASKING.values():
                text, status = on_terminal(*words_of(words, collector.url))
                assert status == 1 and commands_in(text) == set(), text


def test_a_file_and_a_pipe_get_what_was_recorded(store):
    exported = execute(WAYBILL, "export", store).stdout
    assert any(ESCAPES in json.loads(line).get("app", "") for line in exported.splitlines())


@pytest.mark.parametrize("words", [
    ("export", "--format", "csv"), ("ask", "summary", "--csv"), ("ask", "network", "--csv"),
    ("ask", "duration", "--use-case", "0", "--by", "said", "--csv")])
def test_no_spreadsheet_computes_what_was_recorded(words, store):
    output = subprocess.run(
        [str(word) for word in (WAYBILL, *words_of(words, store))], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        timeout=TIMEOUT, check=True).stdout  # as bytes: CR is not the end of a line
    rows = list(csv.reader(io.StringIO(output.decode(), newline="")))
    formulas = [cell for row in rows for cell in row if cell[:1] in tuple("=+-@\t\r") and not is_number(cell)]
    assert rows and formulas == []
    if words[0] == "export":
        texts = {cell.removeprefix("'") for row in rows for cell in row}
        assert texts >= set(FORMULAS) | {"-2"}, "all of them can be read back, and numbers are numbers"


def is_number(cell):
    try:
        float(cell)
        return not cell.startswith("+")
    except ValueError:
        return False


@pytest.mark.parametrize("rows", [0, 1])
def test_a_list_that_never_ends_is_given_up(rows):
    """A server that is no collector gives a next page for ever; `verify` of it waits in a script."""
    row = {
        "id": guid(), "app": "a", "app_version": "1", "device": "", "os": "", "os_version": "", "gaps": [],
        "attributes": {}, "has_ended": False, "heard_us": 1_772_366_400_000_000, "started_us": 1_772_366_400_000_000,
        "ledger": {"recorded": 0, "delivered": 0, "quarantined": 0, "dropped": {}, "pending": 0, "refused": 0}}
    count = [0]

    def answer(request):
        count[0] += 1
        request.reply(
            200, json.dumps({"rows": [row] * rows, "next": f"c{count[0]}"}).encode(), Content_Type="application/json")

    with server(answer) as endless:
        done = run("verify", endless.url)
    assert done.returncode == 1 and "does not end" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert count[0] < 200


HIDDEN = "pay\u200bpal \u200e\u200f\u2060\ufeff\u00ad hidden"


def test_characters_that_nobody_sees_are_shown_in_lists_and_commands(tmp_path):
    (tmp_path / "1.waybill-set.v1.json").write_text(json.dumps(a_set(HIDDEN)))
    execute(WAYBILL, "import", tmp_path / "1.waybill-set.v1.json", "--to", tmp_path / "store")
    for arguments in [("list", tmp_path / "store"), ("export", tmp_path / "store", "--format", "curl")]:
        text, status = on_terminal(*arguments)
        assert status == 0 and not set("\u200b\u200e\u200f\u2060\ufeff\u00ad") & set(text), text
