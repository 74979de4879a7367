"""HTTP Archives, read by what knows nothing of Waybill: haralyzer, and the reader that Playwright replays from."""
import json
import math
from urllib.parse import urlsplit

import pytest
from dateutil import parser as dates
from haralyzer import HarParser
from waybill import in_sqlite, waybill

# What HAR 1.2 says must be there: http://www.softwareishard.com/blog/har-12-spec.
REQUIRED = {
    (): ["startedDateTime", "time", "request", "response", "cache", "timings"],
    ("request",): ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"],
    ("response",): [
        "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
        "bodySize"],
    ("response", "content"): ["size", "mimeType"],
    ("timings",): ["send", "wait", "receive"],
}


@pytest.fixture(scope="module")
def archives(collected, samples, tmp_path_factory):
    """Of the demo and of odd exchanges: the file, and how many exchanges the store has."""
    folder, found = tmp_path_factory.mktemp("archives"), {}
    for name, store in [("demo", collected), ("odd", samples / "exchanges")]:
        waybill("export", store, "--format", "har", "--output", folder / f"{name}.har")
        (count,), = in_sqlite(
            store / "waybill.sqlite", "SELECT count(*) FROM exchanges WHERE method IS NOT NULL AND role = 0")
        found[name] = folder / f"{name}.har", count
    return found


@pytest.fixture(params=["demo", "odd"])
def archive(request, archives):
    file, _ = archives[request.param]
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture
def entries(archive):
    assert archive["log"]["entries"]
    return archive["log"]["entries"]


def test_every_exchange_of_a_client_is_an_entry_the_oldest_first(archive, entries, archives, request):
    log = archive["log"]
    assert log["version"] == "1.2" and {"name", "version"} <= set(log["creator"])
    answers = [entry for entry in entries if "redirect" not in entry["_waybill"]]
    assert len(answers) == archives[request.node.callspec.params["archive"]][1]
    assert {entry["_waybill"]["role"] for entry in entries} == {"client"}
    firsts, known = [], set()
    for entry in entries:
        exchange = (entry["_waybill"]["source"], entry["_waybill"]["sequence"])
        if exchange not in known:
            firsts.append(entry["startedDateTime"])
        known.add(exchange)
    assert firsts == sorted(firsts)
    assert all(urlsplit(entry["request"]["url"]).scheme in ("http", "https", "ws", "wss") for entry in entries)


def test_entries_stand_on_the_pages_of_their_transactions(archive, entries):
    pages = archive["log"]["pages"]
    titles = {page["id"]: page["title"] for page in pages}
    assert pages and len(titles) == len(pages), "an ID names one page"
    for page in pages:
        assert dates.isoparse(page["startedDateTime"]) and page["pageTimings"] == {"onContentLoad": -1, "onLoad": -1}
    assert {entry["pageref"] for entry in entries if "pageref" in entry} == set(titles)
    for entry in entries:
        own = entry["_waybill"]
        assert entry.get("pageref") == own.get("transaction")
        if "pageref" in entry:
            assert titles[entry["pageref"]].endswith(own["support_code"])


def test_every_redirect_is_followed_by_the_request_that_it_led_to(archives):
    entries = json.loads(archives["odd"][0].read_text())["log"]["entries"]
    led = [(entry, following) for entry, following in zip(entries, entries[1:]) if "redirect" in entry["_waybill"]]
    assert led, "the samples have a redirect"
    for entry, following in led:
        assert 300 <= entry["response"]["status"] < 400
        assert entry["response"]["redirectURL"] == following["request"]["url"]
        assert entry["_waybill"]["sequence"] == following["_waybill"]["sequence"]
        if following["request"]["method"] == "GET":
            assert "postData" not in following["request"]


def number(value):
    assert isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def text(value):
    assert isinstance(value, str)


def pairs(value):
    for pair in value:
        text(pair["name"])
        text(pair["value"])


def as_chromium_imports(log):
    """The checks of DevTools' HARFormat.ts: what is not as it wants it, it throws for."""
    text(log["version"])
    text(log["creator"]["name"])
    text(log["creator"]["version"])
    for page in log.get("pages", []):
        dates.isoparse(page["startedDateTime"])
        text(page["id"])
        text(page["title"])
        assert isinstance(page["pageTimings"], dict)
    assert isinstance(log["entries"], list)
    for entry in log["entries"]:
        dates.isoparse(entry["startedDateTime"])
        number(entry["time"])
        request, response, timings = entry["request"], entry["response"], entry["timings"]
        for name in ("method", "url", "httpVersion"):
            text(request[name])
        number(response["status"])
        for name in ("statusText", "httpVersion", "redirectURL"):
            text(response[name])
        for message in (request, response):
            pairs(message["cookies"])
            pairs(message["headers"])
            number(message["headersSize"])
            number(message["bodySize"])
        pairs(request["queryString"])
        if "postData" in request:
            text(request["postData"]["mimeType"])
            text(request["postData"]["text"])
        number(response["content"]["size"])
        text(response["content"]["mimeType"])
        for name in ("send", "wait", "receive"):
            number(timings[name])


def as_firefox_imports(log):
    """What its har-importer.js reads without asking whether it is there."""
    pages = {page["id"]: page for page in log["pages"]}
    for entry in log["entries"]:
        entry["request"]["headers"], entry["request"]["headersSize"], entry["request"]["cookies"]
        entry["response"]["headers"], entry["response"]["cookies"], entry["response"]["bodySize"]
        entry["response"]["content"]["size"], entry["response"]["content"]["mimeType"]
        assert isinstance(entry["cache"], dict) and isinstance(entry["timings"], dict)
        timings = pages.get(entry.get("pageref"), {}).get("pageTimings", {})
        assert all(timings[name] >= -1 for name in timings)


def as_charles_imports(log):
    """Strict about HAR 1.2: what it says must be there, of its type, with a URL that has a host."""
    ids = [page["id"] for page in log["pages"]]
    assert len(ids) == len(set(ids))
    for entry in log["entries"]:
        assert "pageref" not in entry or entry["pageref"] in ids
        assert urlsplit(entry["request"]["url"]).hostname
        assert isinstance(entry["response"]["status"], int)
        for message in (entry["request"], entry["response"]):
            assert message["bodySize"] >= -1 and message["headersSize"] >= -1


@pytest.mark.parametrize("rules", [as_chromium_imports, as_firefox_imports, as_charles_imports])
def test_importers_find_what_they_require(archive, rules):
    rules(archive["log"])


def test_entries_have_the_members_that_they_must_have_and_others_begin_with_an_underscore(entries):
    for entry in entries:
        for path, members in REQUIRED.items():
            value = entry
            for step in path:
                value = value[step]
            assert set(members) <= set(value), path
        for pairs in (entry["request"]["headers"], entry["response"]["headers"], entry["request"]["queryString"]):
            assert all(set(pair) >= {"name", "value"} for pair in pairs)
        unknown = set(entry) - {*REQUIRED[()], "comment", "pageref", "serverIPAddress", "connection"}
        assert all(member.startswith("_") for member in unknown), unknown


def test_times_are_exact_and_add_up(entries):
    for entry in entries:
        timings, own = entry["timings"], entry["_waybill"]
        names = ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")
        phases = {name: timings.get(name, -1) for name in names}
        assert all(time == -1 or time >= 0 for time in phases.values()), f"no negative time in {phases}"
        assert all(phases[name] >= 0 for name in ("send", "wait", "receive")), "three phases are never unknown"
        assert phases["ssl"] <= max(phases["connect"], -1), "TLS is inside connecting"
        total = sum(time for name, time in phases.items() if name != "ssl" and time >= 0)
        assert math.isclose(total, entry["time"], abs_tol=1e-6)
        assert round(dates.isoparse(entry["startedDateTime"]).timestamp() * 1_000_000) == own["opened_us"]
        if "closed_us" in own:
            assert math.isclose(entry["time"] * 1000, own["closed_us"] - own["opened_us"], abs_tol=1e-3)


def test_haralyzer_reads_every_entry(archive, entries):
    found = [entry for page in HarParser(archive).pages for entry in page.entries]
    assert len(found) == len(entries)
    for entry in found:
        assert entry.startTime is not None and entry.time >= 0
        assert entry.request.method and entry.request.url.startswith("http")
        assert isinstance(entry.status, int) and entry.response.mimeType is not None
        entry.request.text, entry.cookies, entry.timings, str(entry)  # what cannot be read raises
        if "text" in entry.response.raw_entry["content"]:
            assert isinstance(entry.response.text, str)


def test_exchanges_of_every_state_are_exported(archives):
    entries = [entry for file, _ in archives.values() for entry in json.loads(file.read_text())["log"]["entries"]]
    states = {entry["_waybill"]["state"] for entry in entries}
    assert states == {"in_progress", "completed", "failed", "cancelled", "mocked"}


def test_chromium_replays_an_archive(archives, browser):
    context = browser.new_context()
    context.route_from_har(archives["odd"][0], not_found="abort")
    context.route(
        "https://api.example/blank", lambda route: route.fulfill(body="<p>blank", content_type="text/html"))
    page = context.new_page()
    assert page.goto("https://api.example/items?a=1&b=%C3%A9+x&c").status == 200
    assert page.url == "https://b.example/", "the redirect is replayed, too"
    page.goto("https://api.example/blank")
    body = '{"name":"é \\"漢字\\"","list":[1,2,3]}'
    ask = """async body => {
        const answer = await fetch('/bodies/text', { method: 'POST', body });
        return [answer.status, await answer.text()];
    }"""
    assert page.evaluate(ask, body) == [200, body]
    context.close()
