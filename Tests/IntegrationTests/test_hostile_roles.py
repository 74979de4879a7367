"""The table of SECURITY.md that says who may do what, tried on every route of the description with every kind of bearer."""
import http.client
import json
import re

import pytest
import yaml
from sets import APP, Recorder, guid
from waybill import MEDIA_TYPE, ROOT, TIMEOUT

COLUMNS = ["no token", "ingest", "read", "admin", "browser session"]
READ = "lists, one transaction or exchange"
# By the beginning of a line of the table, the operations of the description that it is about.
LINES = {
    "`GET /v1/health`": ["GET /v1/health", "GET /v1/ready"],
    "`POST /v1/sets`": ["POST /v1/sets", "POST /v1/traces"],
    READ: [
        "GET /v1/transactions", "GET /v1/transactions/{id}", "GET /v1/exchanges", "GET /v1/exchanges/{id}", "POST /v1/answers",
        "GET /v1/names", "GET /v1/sources", "GET /v1/export", "GET /metrics"],
    "`DELETE /v1/transactions`": ["DELETE /v1/transactions"],
}
PAGES = ["/transactions", "/sessions", "/network", "/endpoints", "/use-cases", "/sources", "/delivery"]


def table():
    """Who may, by the beginning of each line."""
    text = (ROOT / "SECURITY.md").read_text().partition("### Who may do what")[2].partition("\n### ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert [cell.strip("`") for cell in rows[0][1:]] == COLUMNS
    return {row[0]: {column for column, mark in zip(COLUMNS, row[1:], strict=True) if mark == "●"} for row in rows[2:]}


def allowed(beginning):
    found = [who for line, who in table().items() if line.startswith(beginning)]
    assert len(found) == 1, f"SECURITY.md has one line that begins with {beginning}"
    return found[0]


def operations():
    paths = yaml.safe_load((ROOT / "Schemas/collector.openapi.yaml").read_text())["paths"]
    return {f"{method.upper()} {path}" for path, item in paths.items() for method in item if method != "parameters"}


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(tmp_path_factory.mktemp("roles"), roles=["ingest", "read", "admin"])


def answer(collector, who, method, path, body=None, content="application/json"):
    """The status, and where it sends a browser."""
    headers = {"Content-Type": content} if body is not None else {}
    if who in collector.tokens:
        headers["Authorization"] = f"Bearer {collector.tokens[who]}"
    elif who == "browser session":
        headers["Cookie"] = collector.log_in(collector.tokens["read"])
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def request(operation, transaction, exchange):
    """A path and a body that are right for it."""
    method, path = operation.split(" ")
    recorder = Recorder(APP, 1_772_366_400_000_000)
    recorder.open(0, guid(), 0)
    path = path.replace("{id}", exchange if "exchanges" in path else transaction)
    if operation == "POST /v1/sets":
        return method, path, json.dumps(recorder.set()), MEDIA_TYPE
    if operation == "POST /v1/traces":
        return method, path, json.dumps({"resourceSpans": []}), "application/json"
    if operation == "POST /v1/answers":
        return method, path, json.dumps({"question": "summary"}), "application/json"
    if method == "DELETE":
        return method, f"{path}?id={guid()}", None, ""
    return method, path, None, ""


def test_the_table_is_about_every_route():
    assert operations() == {operation for line in LINES.values() for operation in line}


@pytest.mark.parametrize("who", COLUMNS)
def test_each_may_what_the_table_says_and_nothing_else(who, collector, attack):
    recorder = Recorder(APP, 1_772_366_400_000_000)
    transaction = guid()
    recorder.open(0, transaction, 0)
    sequence, close = recorder.request(10, 20, "/login")
    close()
    collector.post(recorder.set())
    with attack(collector, f"everything is asked for with {who}") as tried:
        open_routes = []
        for beginning, line in LINES.items():
            for operation in line:
                method, path, body, content = request(operation, transaction, f"{recorder.id}:{sequence}")
                status, text = answer(collector, who, method, path, body, content)
                tried.count += 1
                if who in allowed(beginning):
                    assert status == 200, f"{who}: {operation}: {text}"
                    open_routes.append(operation)
                else:
                    assert status in (401, 403), f"{who}: {operation}: {text}"
        for page in PAGES:
            status, text = answer(collector, who, "GET", page)
            tried.count += 1
            if who in allowed("the pages of the inspector"):
                assert status == 200 and "name=token" not in re.sub('["\']', "", text), page
                assert answer(collector, who, "POST", page, "x=1")[0] in (404, 405), "they change nothing"
            else:
                assert status in (303, 401) or "name=token" in re.sub('["\']', "", text), f"{who}: {page}: {status}"
                assert transaction not in text
        tried.held = f"{len(open_routes)} routes of {len(operations())} are open, the others get 401 or 403"


@pytest.mark.parametrize("who", ["ingest", "read", "admin"])
def test_who_may_log_in(who, collector):
    form = f"token={collector.tokens[who]}"
    status, _ = answer(collector, "no token", "POST", "/login", form, "application/x-www-form-urlencoded")
    assert (status == 303) == (who in allowed("begin a session")), f"{who}: {status}"
