"""Sets that bring few facts or none, and much beside them: ranges of dropped facts, names, clock anchors. Taken, they must
cost what they bring and no more, however much the source or the store has of them already; nothing that people read may
grow with them."""
import http.client
import json
import time
from collections import Counter

import pytest
from attacks import often
from sets import APP, Recorder, guid
from waybill import MEDIA_TYPE, TIMEOUT, in_sqlite

MOST = 20_000  # of each kind in one set
SMALL = {"app": "hostile", "app_version": "1", "device": "", "os": "", "os_version": ""}
STARTED = 1_772_366_400_000_000
PROOF = "5" * 64  # of every source here: who owns a source is believed in what it has dropped


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(tmp_path_factory.mktemp("ranges"), roles=["ingest", "read"])


def share(source, recorded=1 << 40, **members):
    ledger = {"recorded": recorded, "delivered": 0, "quarantined": 0, "pending": 0, "refused": 0}
    return {"source": source, "source_proof": PROOF, **SMALL, "clocks": [{"at_us": 0, "offset_us": STARTED}], "ledger": ledger, **members}


def post(collector, *shares):
    """Status and body of a set."""
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    headers = {"Content-Type": MEDIA_TYPE, "Authorization": f"Bearer {collector.tokens['ingest']}"}
    connection.request("POST", "/v1/sets", json.dumps({"set": guid(), "sources": shares}), headers)
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    return response.status, body


def get(collector, path, cookie=""):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request(
        "GET", path, headers={"Authorization": f"Bearer {collector.tokens['read']}", "Cookie": cookie})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def log_in(collector):
    """The cookie that pages are shown for."""
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": collector.url}
    connection.request("POST", "/login", f"token={collector.tokens['read']}", form)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.getheader("Set-Cookie").partition(";")[0]


def ranges(first, count, reason="quota"):
    """So many of one sequence each, with one between two."""
    return [{"first": at, "last": at, "reason": reason} for at in range(first, first + 2 * count, 2)]


def seconds(body):
    begun = time.monotonic()
    body()
    return time.monotonic() - begun


@pytest.mark.parametrize("reason", ["quota", "erased"])
def test_hundreds_of_thousands_of_dropped_ranges_make_no_set_dearer(collector, attack, reason):
    source, fresh, large, small = guid(), guid(), often(24), often(100)
    count = large * MOST + small * 1_000
    with attack(collector, f"{count:,} ranges dropped for {reason} on one source, in sets of all sizes") as tried:
        answers = []
        for number in range(6):  # of which the largest were taken once
            answers.append(post(collector, share(source, dropped=ranges(1 + number * 160_000, 80_000, reason))))
        refused = Counter(status for status, _ in answers)
        for number in range(large):
            told = share(source, dropped=ranges(1 + number * 2 * MOST, MOST, reason))
            assert post(collector, told)[0] == 200
        far = large * 2 * MOST

        def send_twenty(source):
            for number in range(20):
                told = ranges(far + 10 + 2 * number, 1, reason) + [{"first": 2, "last": far, "reason": "age"}]
                status, receipt = post(collector, share(source, dropped=told))
                assert status == 200, receipt

        for number in range(small):  # as many as any client may have, so that none of them stands out
            told = ranges(1 + (1 << 30) + number * 2_000, 1_000, reason)
            assert post(collector, share(source, dropped=told))[0] == 200
        tried.count = 6 + large + small + 40
        without, beside = seconds(lambda: send_twenty(fresh)), seconds(lambda: send_twenty(source))
        assert refused == {422: 6} and "several sets" in answers[0][1]["detail"], answers[0]
        status, body = get(collector, "/v1/sources?text=" + source)
        record = json.loads(body)["rows"][0] if status == 200 else body
        assert len(body) < 200_000 and len(record["gaps"]) <= 1_000, "a page of sources stays small"
        rows = in_sqlite(collector.place / "waybill.sqlite", "SELECT max(n) FROM (SELECT count(*) n FROM dropped GROUP BY source)")
        assert rows[0][0] <= 5 * MOST, "a source has room for the ranges of five such sets, however many it sends"
        tried.held = f"sets of 80,000 refused; twenty small sets took {beside:.2f} s, of a new source {without:.2f} s"


def test_erasing_here_and_there_looks_at_each_fact_once_a_set(collector, attack):
    recorder = Recorder(APP | {"app": "hostile"}, STARTED, {})
    with attack(collector, "20,000 erased ranges among 20,000 facts, in one set") as tried:
        recorder.open(0, guid(), 0)
        for number in range(20_000):
            recorder.add(number + 1, "event", event=0)
        collector.post(recorder.set(source_proof=PROOF))
        recorder.forget()
        status, _ = post(
            collector, recorder.set(dropped=ranges(2, 10_000, "erased"), source_proof=PROOF)["sources"][0])
        tried.count, tried.held = 2, "taken, and one pass over the source's facts"
        assert status == 200


def test_anchors_without_end_date_no_transactions_anew(collector, attack):
    recorder = Recorder(APP | {"app": "hostile"}, STARTED, {})
    with attack(collector, "30,000 transactions, and anchors in front of them all") as tried:
        for number in range(30_000):
            recorder.open(1_000_000 + number, guid(), 0)
        collector.post(recorder.set(source_proof=PROOF))
        recorder.forget()
        many = [{"at_us": at, "offset_us": STARTED + at % 7} for at in range(MOST + 1)]
        status, refusal = post(collector, share(recorder.id, clocks=many))
        assert status == 422 and "clock anchors" in refusal["detail"]
        for number in range(20):
            anchor = {"at_us": 1_000 + number, "offset_us": STARTED + 1_000_000 * (number + 1)}
            status, _ = post(collector, share(recorder.id, clocks=[anchor]))
            assert status == 200
        tried.count, tried.held = 21, "20,001 in a set refused; those in front of 30,000 parts left out"


def test_a_hundred_thousand_names_show_in_no_page(collector, attack):
    honest = Recorder(APP, STARTED)
    honest.open(0, guid(), 0)
    collector.post(honest.set())
    others = in_sqlite(collector.place / "waybill.sqlite", "SELECT count(*) FROM names")[0][0]
    with attack(collector, "500,000 names, and the pages that show names") as tried:
        refused = 0
        for number in range(5):
            # A launch has one name for each code, so each number is a launch.
            recorder = Recorder(SMALL, STARTED, {})
            recorder.open(0, guid(), 1_000)
            collector.post(recorder.set(source_proof=PROOF))
            kinds = [{"use_case": code, "name": f"a use case of {number} {code}"} for code in range(1_000, 51_000)]
            kinds += [{"use_case": 1_000, "event": code, "name": f"event {number} {code}"} for code in range(50_000)]
            status, answer = post(collector, share(guid(), names=kinds))
            assert status in (200, 422), answer
            for part in range(0, len(kinds), MOST):
                status, receipt = post(collector, share(recorder.id, names=kinds[part:part + MOST]))
                assert status == 200
                refused += receipt.get("refused_names", 0)
        tried.count = 5 + 5 * 5
        kept = in_sqlite(collector.place / "waybill.sqlite", "SELECT count(*) FROM names")[0][0]
        assert kept == 200_000 and refused == 500_000 - kept + others, "what has no room is refused and counted"
        paths = [
            "/transactions", "/network", "/delivery", "/use-cases", "/terms", "/v1/names",
            "/v1/transactions?filter=useCase:nosuchusecase", "/v1/transactions?filter=event:" + "e" * 200,
            "/v1/transactions?use_case=a%20use%20case%20of%200%201000"]
        sizes, cookie = {}, log_in(collector)
        for path in paths:
            status, body = get(collector, path, cookie)
            assert status in (200, 400), (path, status)
            sizes[path] = len(body)
        assert max(sizes.values()) < 500_000, sizes
        assert all(size < 10_000 for path, size in sizes.items() if "filter" in path), sizes
        assert b">login<" in get(collector, "/transactions", cookie)[1], "the honest use case can be chosen still"
        assert get(collector, "/v1/transactions?filter=useCase:login")[0] == 200
        tried.held = f"no page beyond {max(sizes.values()) // 1000} KB, no sentence beyond 10 KB"
