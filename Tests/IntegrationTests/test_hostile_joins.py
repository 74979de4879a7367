"""A collector that is told of transactions and use cases that were made up: what nobody is known to have begun is kept,
and shown to those who ask for it; it fills no list, no total and no page."""
import http.client
import json
import urllib.parse

import pytest
from sets import APP, SERVER, Recorder, guid, login, now
from waybill import TIMEOUT

COUNT, SET_SIZE = 40_000, 1_000
PAGE_CEILING = 1 << 20


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(tmp_path_factory.mktemp("joins"), roles=["ingest", "read"])


def request(collector, method, address, body=None, **headers):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request(method, address, body, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


@pytest.fixture(scope="module")
def cookie(collector):
    """Of somebody who has logged in to read."""
    form = urllib.parse.urlencode({"token": collector.tokens["read"]})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    response, _ = request(collector, "POST", "/login", form, **kind)
    return response.headers["Set-Cookie"].split(";")[0]


def get(collector, path, **query):
    address = f"{path}?{urllib.parse.urlencode(query)}"
    response, body = request(collector, "GET", address, Authorization=f"Bearer {collector.tokens['read']}")
    assert response.status == 200, body[:500]
    return body


def size(collector, cookie, page):
    response, body = request(collector, "GET", page, Cookie=cookie)
    assert response.status == 200, body[:500]
    return len(body)


def transactions(collector, **query):
    return json.loads(get(collector, "/v1/transactions", **query))["rows"]


def flood(collector, tried, about, **opened):
    """Transactions of a use case each, none of which there is."""
    source, ids = Recorder(about, now(), {}), []
    for number in range(COUNT):
        ids.append(guid())
        source.open(number, ids[-1], 1_000_000 + number, **opened)
        if len(source.facts) == SET_SIZE:
            collector.post(source.set())
            source.forget()
            tried.count += 1
    return ids


def test_transactions_that_were_only_joined_fill_no_list(collector, cookie, attack):
    with attack(collector, "40,000 made-up transactions, joined, each of a use case of its own") as tried:
        app, server = (Recorder(about, now()) for about in (APP, SERVER))
        genuine = login(app, server, 1_000_000)
        collector.post(app.set(), server.set())
        ids = flood(collector, tried, SERVER, joined=True)
        pages = ("/use-cases", "/transactions", "/network", "/sources")
        sizes = {page: size(collector, cookie, page) for page in pages}
        assert max(sizes.values()) < PAGE_CEILING, sizes
        shown = {row["id"] for row in transactions(collector, limit=500)}
        assert genuine in shown and not shown & set(ids), "those that somebody began are listed, and no others"
        one = json.loads(get(collector, f"/v1/transactions/{ids[7]}"))
        assert one["summary"]["is_waiting_for_beginner"], "who has its ID sees it"
        asked = transactions(collector, filter="beginner:unknown", limit=500)
        assert len(asked) == 500 and {row["id"] for row in asked} <= set(ids), "and so does who asks for such"
        begun = Recorder(APP, now())
        begun.open(0, ids[7], 1_000_007)
        collector.post(begun.set())
        assert ids[7] in {row["id"] for row in transactions(collector, limit=500)}, "its beginner came"
        largest = max(sizes.values()) // 1000
        tried.held = f"none is listed or counted; pages of {largest} kB at most; shown by ID, and by beginner:unknown"


def test_use_cases_that_were_made_up_fill_no_page(collector, cookie, attack):
    with attack(collector, "40,000 made-up use cases, begun") as tried:
        flood(collector, tried, APP)
        found = size(collector, cookie, "/use-cases")
        assert found < PAGE_CEILING, found
        tried.held = f"a page of {found // 1000} kB with 200 of them"
