"""`waybill serve --check --webhook`: a receiver of posts learns once that a budget broke, and once that it holds again."""
import json
import queue
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sets import APP, DAY, SERVER, Recorder, login, now
from waybill import TIMEOUT, WAYBILL, Collector, execute

SECRET = "T000-hunter2"


class Receiver(ThreadingHTTPServer):
    """Keeps the bodies of the posts, and answers with `status`."""

    def __init__(self):
        self.posts, self.status = queue.Queue(), 200
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/services/{SECRET}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.put((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    server = Receiver()
    yield server
    server.shutdown()
    server.server_close()


def deliver(place, right=0, wrong=0, owed=0):
    """Logins of one app and one server, whose last facts do not arrive."""
    app, server = Recorder(APP, now() - DAY), Recorder(SERVER, now() - DAY)
    for number in range(right + wrong):
        login(app, server, 1_000_000 * number, number < right)
    with Collector(place, roles=("ingest",)) as collector:
        collector.post(app.set(), server.set(server.facts[:len(server.facts) - owed]))


def alerting(folder, receiver, *budgets):
    """A collector that checks these budgets when it starts, and then once a minute. Its log is in a file."""
    file = folder / "budgets.json"
    file.write_text(json.dumps(budgets))
    return Collector(
        folder / "collected", "--check", file, "--webhook", receiver.url, roles=("read",),
        stderr=open(folder / "log.txt", "a"))


def metrics(collector):
    request = urllib.request.Request(
        f"{collector.url}/metrics", headers={"Authorization": f"Bearer {collector.tokens['read']}"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return answer.read().decode()


def counted(collector, verdict, count=1):
    """Returns when the collector has noted so many posts: what it has noted, it does not post after a restart."""
    line, deadline = f'waybill_webhook_posts_total{{project="waybill",verdict="{verdict}"}} {count}', time.monotonic() + TIMEOUT
    while line not in metrics(collector).splitlines():
        assert time.monotonic() < deadline, f"no line {line}"
        time.sleep(0.05)


def test_a_receiver_learns_once_that_a_budget_broke_and_once_that_it_holds(tmp_path, receiver):
    failures, slow = {"use_case": "login", "failed_percent": 20}, {"use_case": "login", "p50_ms": 1}
    deliver(tmp_path / "collected", right=1, wrong=1, owed=2)
    with alerting(tmp_path, receiver, failures) as collector:
        path, media_type, post = receiver.posts.get(timeout=TIMEOUT)
        counted(collector, "accepted")
    assert path.endswith(SECRET) and media_type == "application/json"
    assert post["project"] == "waybill" and post["owing_sources"] == 1
    (limit,) = post["limits"]
    assert (limit["use_case"], limit["verdict"], limit["found"]) == ("login", "broken", "50.0 % of 2")
    assert "broken" in post["text"] and "1 source still owes facts" in post["text"]

    # After a restart, the news of another budget comes alone.
    with alerting(tmp_path, receiver, failures, slow) as collector:
        _, _, post = receiver.posts.get(timeout=TIMEOUT)
        counted(collector, "accepted")
    assert [limit["limit"] for limit in post["limits"]] == ["p50 of successes at most 1 ms"]

    deliver(tmp_path / "collected", right=8)
    with alerting(tmp_path, receiver, failures, slow) as collector:
        _, _, post = receiver.posts.get(timeout=TIMEOUT)
        counted(collector, "accepted")
    assert [(limit["verdict"], limit["found"]) for limit in post["limits"]] == [("holds", "10.0 % of 10")]
    assert receiver.posts.empty()
    assert SECRET not in (tmp_path / "log.txt").read_text()


def test_a_receiver_that_fails_costs_no_answer_and_no_news(tmp_path, receiver):
    deliver(tmp_path / "collected", wrong=1)
    budget = {"use_case": "login", "failed_percent": 20}
    receiver.status = 500
    with alerting(tmp_path, receiver, budget) as collector:
        receiver.posts.get(timeout=TIMEOUT)
        counted(collector, "failed")
    receiver.status = 204
    with alerting(tmp_path, receiver, budget) as collector:
        assert receiver.posts.get(timeout=TIMEOUT)[2]["limits"][0]["verdict"] == "broken"
        counted(collector, "accepted")
    assert receiver.posts.empty()
    assert SECRET not in (tmp_path / "log.txt").read_text()


def test_the_settings_are_printed_without_the_secret(tmp_path, receiver):
    (tmp_path / "budgets.json").write_text('[{"use_case": "login", "failed_percent": 2}]')
    printed = execute(
        WAYBILL, "serve", tmp_path, "--print-config", "--check", tmp_path / "budgets.json",
        WAYBILL_WEBHOOK=receiver.url).stdout
    assert f"webhook = http://127.0.0.1:{receiver.server_port}/[hidden]" in printed and SECRET not in printed
