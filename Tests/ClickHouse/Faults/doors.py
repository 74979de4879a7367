"""Doors: `waybill serve` processes on any free port, and how clients speak to them."""

import http.client
import json
import os
import signal
import subprocess
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WAYBILL = Path(os.environ.get("WAYBILL", ROOT / ".build/debug/waybill-cli"))
MEDIA_TYPE = "application/vnd.waybill.transaction-set.v1+json"
PATIENCE = 120  # seconds until what has to happen counts as not happening


class Unavailable(Exception):
    """No answer, or one that says to try again: nothing is known, and nothing was promised."""


class Wrong(Exception):
    """An answer that should not have been given."""


class Door:
    """A collector, for a store that others may serve, too. `relays`: what stands between the two, if anything does."""

    def __init__(self, place, folder, relays=None):
        self.place, self.folder, self.relays, self.process, self.url = place, folder, relays, None, None

    def start(self):
        with open(self.folder / "doors.log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    WAYBILL,
                    "serve",
                    self.place,
                    "--port",
                    "0",
                    "--insecure",
                    "--retention-days",
                    "0",
                    "--max-store-bytes",
                    "0",
                    "--max-requests-per-second",
                    "100000",
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise RuntimeError(f"a door ended before it listened: {(self.folder / 'doors.log').read_text()[-800:]}")
        self.url = line.split()[-1].removeprefix("http://")
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def restart(self):
        self.kill()
        return self.start()

    def request(self, method, path, body=None, fields={}, timeout=60):
        """Status, fields and body of an answer that came whole."""
        connection = http.client.HTTPConnection(self.url, timeout=timeout)
        try:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(repr(error)) from None
        finally:
            connection.close()

    def ask(self, method, path, body=None, fields={}, timeout=60):
        status, headers, answer = self.request(method, path, body, fields, timeout)
        if status in (408, 429, 500, 502, 503, 504):
            raise Unavailable(f"{status}: {answer[:300]}")
        if status != 200:
            raise Wrong(
                f"{method} {path.partition('?')[0]} was answered with {status}: {answer[:300].decode(errors='replace')}"
            )
        return headers, answer

    def send(self, given, timeout=60):
        """The receipt of a set."""
        return json.loads(self.ask("POST", "/v1/sets", json.dumps(given), {"Content-Type": MEDIA_TYPE}, timeout)[1])

    def send_and_go_away(self, given, wait):
        """Sends all of a request, and hangs up before its answer."""
        connection = http.client.HTTPConnection(self.url, timeout=60)
        try:
            connection.request("POST", "/v1/sets", json.dumps(given), {"Content-Type": MEDIA_TYPE})
            time.sleep(wait)
        except OSError:
            pass
        finally:
            connection.close()

    def export(self, after=None):
        """The facts, as lines, and the cursor behind them."""
        query = "?" + urllib.parse.urlencode({"after": after}) if after else ""
        headers, body = self.ask("GET", "/v1/export" + query)
        return [json.loads(line) for line in body.splitlines()], headers["Waybill-Next-Cursor"]

    def sources(self):
        """Each source's record, by its ID."""
        rows, after = {}, None
        for _ in range(1000):
            query = "?" + urllib.parse.urlencode({"after": after}) if after else ""
            page = json.loads(self.ask("GET", "/v1/sources" + query)[1])
            rows |= {row["id"]: row for row in page["rows"]}
            after = page.get("next")
            if not after:
                return rows
        raise Wrong("the list of sources does not end")

    def count(self, use_case):
        """Of all transactions of a use case, as the question `summary` says."""
        question = json.dumps({"question": "summary", "filter": {"use_case": use_case}})
        answer = json.loads(self.ask("POST", "/v1/answers", question, {"Content-Type": "application/json"})[1])
        return sum(row["runs"] for row in answer["use_cases"])

    def erase(self, transactions):
        return self.ask("DELETE", "/v1/transactions?" + urllib.parse.urlencode({"id": transactions}, doseq=True))


def until(attempt, seconds=PATIENCE):
    """Tries until it is available; what it gave, and the seconds that this took."""
    begun = time.monotonic()
    while True:
        try:
            return attempt(), time.monotonic() - begun
        except Unavailable:
            if time.monotonic() - begun > seconds:
                raise
            time.sleep(0.05)
