"""What the tests share: the tools that were built, processes that serve, and readers of what they leave."""
import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ROOT / ".build/debug"
WAYBILL = Path(os.environ.get("WAYBILL", PRODUCTS / "waybill-cli"))
DUCKDB = Path(sys.executable).with_name("duckdb")
MEDIA_TYPE = "application/vnd.waybill.transaction-set.v1+json"
TIMEOUT = 60  # seconds until something that was to happen counts as not happening


def execute(*command, cwd=None, timeout=4 * TIMEOUT, **environment):
    """Runs something that must end well."""
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=cwd,
        timeout=timeout, env=os.environ | environment)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done


def waybill(*arguments):
    """What the tool prints."""
    return execute(WAYBILL, *arguments, COLUMNS="80").stdout.strip()


def in_sqlite(file, sql):
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def in_duckdb(*statements, **environment):
    """The rows of each statement that has an answer, after the views of Schemas/duckdb.sql were made."""
    words = [word for sql in (f".read {ROOT}/Schemas/duckdb.sql", *statements) for word in ("-c", sql)]
    text, results = execute(DUCKDB, "-bail", "-json", *words, **environment).stdout.strip(), []
    while text:
        rows, end = json.JSONDecoder().raw_decode(text)
        results.append(rows)
        text = text[end:].lstrip()
    return results


class Service:
    """A process whose first line says where it listens."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **options)
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), f"{command[0]} ended before it listened"
        self.url = line.split()[-1]
        self.address = self.url.removeprefix("http://")

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            assert self.process.poll() is not None or self.end() == 0, "it ends with 0 when it is asked to"
        finally:
            self.process.kill()


class Collector(Service):
    """`waybill serve` on any free port, with a token of each of the roles."""

    def __init__(self, place, *options, roles=(), binary=WAYBILL, **more):
        self.place = place
        self.tokens = {role: execute(binary, "token", "add", place, "--role", role).stdout.strip() for role in roles}
        super().__init__(binary, "serve", place, "--port", "0", *options, **more)

    def send(self, body):
        """The receipt of a set."""
        headers = {"Content-Type": MEDIA_TYPE, "Authorization": f"Bearer {self.tokens['ingest']}"}
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT)
        connection.request("POST", "/v1/sets", json.dumps(body), headers)
        receipt = json.loads(connection.getresponse().read())
        connection.close()
        return receipt

    def post(self, *sets):
        for body in sets:
            receipt = self.send(body)
            assert "accepted" in receipt and not receipt.get("rejected"), f"every fact is accepted: {receipt}"

    def log_in(self, token):
        """The cookie of a session in the inspector, begun with a token to read."""
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT)
        connection.request(
            "POST", "/login", f"token={token}", {"Content-Type": "application/x-www-form-urlencoded"})
        response = connection.getresponse()
        response.read()
        connection.close()
        assert response.status == 303, f"a token to read logs in: {response.status}"
        return response.getheader("Set-Cookie").partition(";")[0]

    def memory(self, which):
        """VmRSS, in bytes; VmHWM is its highest since it was reset by way of `clear_refs` (proc_pid_status(5))."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(which + ":"))

    def worked(self):
        """Milliseconds of processor time so far (proc_pid_stat(5): fields 14 and 15)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
