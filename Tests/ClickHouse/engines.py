"""Starts the engines of this folder for a test, and talks to them as a client does: by HTTP and RowBinary."""

import http.client
import json
import struct
import subprocess
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77  # what Scripts/clickhouse-engines ends with where an engine cannot be installed


class Skipped(Exception):
    """Says in one line why there is no such engine here."""


class Refusal(Exception):
    """What ClickHouse answers with a status other than 200: its own code, and its text."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status
        self.code = int(text.split("Code: ", 1)[-1].split(",")[0].split(".")[0]) if "Code: " in text else None


class Engine:
    """An engine that runs, until the end of a `with`."""

    def __init__(self, which, *options):
        self.process = subprocess.Popen(
            [ROOT / "Scripts/clickhouse-engines", which, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        if not line:
            self.process.stdin.close()
            if self.process.wait() == SKIPPED:
                raise Skipped(f"there is no ClickHouse `{which}` here, for the reason above")
            raise RuntimeError(f"ClickHouse `{which}` did not start: {self.process.returncode}")
        self.about = json.loads(line)
        nodes = self.about.get(
            "nodes",
            [{"name": "1.1", "shard": 1, "replica": 1, "http": self.about.get("port"), "pid": self.about.get("pid")}],
        )
        self.nodes = {node["name"]: node for node in nodes}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:  # what it started ends with it
            self.process.kill()
            self.process.wait()

    @property
    def ports(self):
        """Of HTTP, by shard and replica."""
        return [node["http"] for node in self.nodes.values()]

    def do(self, command):
        """One of the commands of cluster.py."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{command}: {answer['error']}")

    def post(self, query, data=b"", node="1.1", user=None, **settings):
        """The bytes of the answer. `data` follows the query, as that of an insert does."""
        return post(self.nodes[node]["http"], query, data, user, **settings)

    def until_accepted(self, query, data=b"", node="1.1", seconds=60, **settings):
        """Sends it again until it is answered with 200, as a client does that must not lose it."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.post(query, data, node, **settings)
            except (Refusal, OSError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def await_equal(self, query, nodes, seconds=30):
        """The answer on which the nodes agree, which a replica needs a moment for."""
        end, answers = time.monotonic() + seconds, None
        while time.monotonic() < end:
            try:
                answers = [self.post(query, node=node) for node in nodes]
            except (Refusal, OSError) as error:
                answers = [repr(error)]
            else:
                if len(set(answers)) == 1:
                    return answers[0]
            time.sleep(0.1)
        raise AssertionError(f"{nodes} do not agree on {query}: {answers}")


def post(port, query, data=b"", user=None, timeout=60, **settings):
    headers = {"X-ClickHouse-User": user[0], "X-ClickHouse-Key": user[1]} if user else {}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", "/?" + urllib.parse.urlencode({"query": query, **settings}), data, headers)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise Refusal(answer.status, body.decode(errors="replace"))
    return body


def text(value):
    """A String of RowBinary: its length in groups of seven bits, then its bytes."""
    value = value.encode() if isinstance(value, str) else value
    length, prefix = len(value), b""
    while length >= 128:
        prefix += bytes([length & 127 | 128])
        length >>= 7
    return prefix + bytes([length]) + value


def row(*values):
    """One row of RowBinary: int is Int64, bytes FixedString, str String."""
    return b"".join(
        struct.pack("<q", value) if isinstance(value, int) else text(value) if isinstance(value, str) else value
        for value in values
    )
