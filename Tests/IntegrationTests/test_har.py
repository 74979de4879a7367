"""HTTP Archives, read by what knows nothing of Waybill: haralyzer, and the reader that Playwright replays from."""
import json
import math

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
        (count,), = in_sqlite(store / "waybill.sqlite", "SELECT count(*) FROM network_logs WHERE method IS NOT NULL")
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


def test_every_exchange_is_an_entry_the_oldest_first(archive, entries, archives, request):
    log = archive["log"]
    assert log["version"] == "1.2" and {"name", "version"} <= set(log["creator"])
    assert len(entries) == archives[request.node.callspec.params["archive"]][1]
    starts = [entry["startedDateTime"] for entry in entries]
    assert starts == sorted(starts)


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
    assert states == {"in_progress", "completed", "failed", "canceled", "mocked"}


def test_chromium_replays_an_archive(archives, browser):
    context = browser.new_context()
    context.route_from_har(archives["odd"][0], not_found="abort")
    page = context.new_page()
    assert page.goto("https://api.example/items?a=1&b=%C3%A9+x&c").status == 200
    body = '{"name":"é \\"漢字\\"","list":[1,2,3]}'
    ask = """async body => {
        const answer = await fetch('/bodies/text', { method: 'POST', body });
        return [answer.status, await answer.text()];
    }"""
    assert page.evaluate(ask, body) == [200, body]
    context.close()
