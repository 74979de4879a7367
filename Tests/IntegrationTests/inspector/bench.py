"""Measures the inspector on a store of a million transactions, by HTTP and in Chromium. Run by `make bench-inspector`.

The store is made once and kept in .build/inspector-bench. Each page is asked for several times; the first stands apart,
being for the caches of the system, and of the others the fastest counts. Beside it is the time that the server worked, which
does not depend on what else the machine does.
Fails where a first page takes longer than 300 ms, or anything else longer than 500 ms.
"""
import argparse
import http.client
import json
import re
import shutil
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import million
import sets
from browser import Visitor
from large import Opened
from waybill import ROOT, Collector

FIRST, FILTER = 300, 500
PAGES = [
    ("first page", "/transactions", FIRST),
    ("use case", "/transactions?use_case=login", FILTER),
    ("outcome", "/transactions?outcome=failed", FILTER),
    ("outcome that changes by itself", "/transactions?outcome=timed_out", FILTER),
    ("no outcome left", "/transactions?outcome=open", FILTER),
    ("use case and outcome", "/transactions?use_case=login&outcome=failed", FILTER),
    ("use case and outcome: none", "/transactions?use_case=login&outcome=cancelled", FILTER),
    ("since", "/transactions?since=24h", FILTER),
    ("until, far back", "/transactions?filter=until%3A20d", FILTER),
    ("event: many", "/transactions?filter=event%3ArequestSent", FILTER),
    ("event: few", "/transactions?filter=event%3AcardDeclined", FILTER),
    ("event: none", "/transactions?use_case=login&filter=event%3AitemMerged", FILTER),
    ("error: many", "/transactions?filter=error%3A401", FILTER),
    ("error: few", "/transactions?filter=error%3A77", FILTER),
    ("error: none", "/transactions?filter=error%3A12345", FILTER),
    ("status: many", "/transactions?filter=status%3A4xx", FILTER),
    ("status: none", "/transactions?filter=status%3A503", FILTER),
    ("attribute: many", "/transactions?filter=attribute%3Avariant%3DB", FILTER),
    ("attribute: few", "/transactions?filter=attribute%3Amarker", FILTER),
    ("attribute: none", "/transactions?filter=attribute%3Amarker%3Dnothing", FILTER),
    ("version", "/transactions?filter=version%3A%224.3.0%20(1240)%22", FILTER),
    ("system: none", "/transactions?filter=os%3A%22Plan%209%22", FILTER),
    ("took more: many", "/transactions?filter=took%3E2s", FILTER),
    ("took more: none", "/transactions?filter=took%3E2h", FILTER),
    ("longest first", "/transactions?filter=sort%3Alongest", FILTER),
    ("shortest first", "/transactions?use_case=sync&filter=sort%3Ashortest", FILTER),
    ("text: many", "/transactions?text=login", FILTER),
    ("text: few", "/transactions?text=two%20versions%20of", FILTER),
    ("text: none", "/transactions?text=nobody%20wrote%20this", FILTER),
    ("text: support code", "/transactions?text={code}", FILTER),
    ("together: many", "/transactions?filter=outcome%3Afailed%20event%3ArequestSent%20error%3A401%20took%3E20ms", FILTER),
    ("together: none", "/transactions?filter=outcome%3Acancelled%20-event%3AitemMerged%20status%3A5xx%20since%3A30d", FILTER),
    ("one transaction, by support code", "/transactions/{code}", FILTER),
    ("network: first page", "/network", FIRST),
    ("network: status", "/network?status=4xx", FILTER),
    ("network: status: none", "/network?status=503", FILTER),
    ("network: method and state", "/network?method=POST&state=failed", FILTER),
    ("network: use case", "/network?use_case=purchase", FILTER),
    ("network: since", "/network?since=24h", FILTER),
    ("network: text: many", "/network?text=orders", FILTER),
    ("network: text: none", "/network?text=nobody%20wrote%20this", FILTER),
]
DEEP = [("page 2", 1), ("page 100", 99)]


class Client:
    """One connection of somebody who is logged in."""

    def __init__(self, server, token):
        self.connection = http.client.HTTPConnection(server.address, timeout=600)
        self.server = server
        self.headers = {"Cookie": server.log_in(token)}

    def get(self, path):
        """Milliseconds, and the page."""
        begun = time.monotonic()
        self.connection.request("GET", path, headers=self.headers)
        response = self.connection.getresponse()
        page = response.read().decode()
        if response.status != 200:
            raise SystemExit(f"{path}: {response.status}")
        return 1000 * (time.monotonic() - begun), page

    def fastest(self, path, rounds):
        """Milliseconds, and how many of them the server worked, on average."""
        begun = self.server.worked()
        times = [self.get(path)[0] for _ in range(rounds)]
        return min(times), (self.server.worked() - begun) / rounds


class Report:
    """Lines as they are measured; what is over its limit is told at the end."""

    def __init__(self):
        self.lines, self.over = [], []
        print(f"{'':42}{'first':>9}{'ms':>9}{'worked':>9}{'limit':>8}{'rows':>6}")

    def add(self, name, first, milliseconds, limit, rows="", worked=None):
        self.lines.append({"name": name, "first_ms": first, "ms": milliseconds, "worked_ms": worked, "limit_ms": limit})
        is_over = milliseconds > limit
        if is_over:
            self.over.append(name)
        worked = " " * 9 if worked is None else f"{worked:9.1f}"
        over = "  over" if is_over else ""
        print(f"{name:42}{first:9.1f}{milliseconds:9.1f}{worked}{limit:8}{rows:>6}{over}", flush=True)


def rows(page):
    return str(len(re.findall("<li[^>]*><a href=\"(?:transactions|network)/", page)))


def older(page):
    found = re.search(r"<a rel=next href=\"?([^\" >]+)", page)
    return found and found[1].replace("&amp;", "&")


def by_http(client, report, rounds, only):
    code = re.search(r"<code>([^<]+)</code>", client.get("/transactions?outcome=failed&limit=500")[1])[1]
    for name, path, limit in PAGES:
        if only and only not in name:
            continue
        path = path.format(code=code)
        first, page = client.get(path)
        fastest, worked = client.fastest(path, rounds)
        report.add(name, first, fastest, limit, rows(page), worked)
    if only:
        return
    for start in ("/transactions", "/network"):
        path, visited = start, 0
        for name, depth in DEEP:
            while visited < depth:
                reference = older(client.get(path)[1])
                path, visited = start + reference, visited + 1
            first, page = client.get(path)
            fastest, worked = client.fastest(path, rounds)
            report.add(f"{start[1:]}: {name}", first, fastest, FILTER, rows(page), worked)


def in_chromium(server, report, rounds):
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with Visitor(browser, server, token=server.tokens["read"]) as user:
            page = user.page
            for name, path, limit in [
                    ("Chromium: first page", "/transactions", FIRST),
                    ("Chromium: failed logins", "/transactions?use_case=login&outcome=failed", FILTER),
                    ("Chromium: network", "/network", FIRST)]:
                times = []
                for _ in range(rounds + 1):
                    page.goto(server.url + path)
                    times.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
                report.add(name, times[0], min(times[1:]), limit)
            page.goto(server.url + "/transactions")
            page.locator(".live[data-state=live]").wait_for()
            times = []
            for _ in range(rounds):
                app = sets.Recorder(sets.APP, sets.now())
                transaction = sets.purchase(app, 1000)
                begun = time.monotonic()
                server.post(app.set())
                page.locator(f"#t-{transaction}").wait_for()
                times.append(1000 * (time.monotonic() - begun))
            # The store is asked once a second whether it has changed.
            report.add("Chromium: sent until it is seen, live", times[0], min(times), 1000 + FILTER)
            for events in (2000, 10_000):
                transaction, body = sets.large(sets.now() - 60_000_000, events)
                server.post(body)
                opened = Opened(page, f"{server.url}/transactions/{transaction}")
                opened.check(page)
                print(f"{events:,} events and 500 exchanges: {opened}")
                limit = FILTER if events == 2000 else 2 * FILTER
                report.add(f"Chromium: {events:,} events, 500 exchanges", opened.loads[0], opened.load, limit)
        browser.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--only", help="pages whose name contains this")
    arguments.add_argument("--copies", type=int, default=100, help="of ten thousand transactions")
    options = arguments.parse_args()
    folder = ROOT / ".build" / "inspector-bench" / f"{options.copies}"
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        count = options.copies * 10_000
        print(f"Making a store of {count:,} transactions, kept in {folder.relative_to(ROOT)}.", file=sys.stderr)
        million.fill(folder / "store", options.copies)
        (folder / "made").touch()
    report = Report()
    with Collector(folder / "store", roles=["read", "ingest"]) as server:
        client = Client(server, server.tokens["read"])
        by_http(client, report, options.rounds, options.only)
        client.connection.close()
        if not options.only:
            in_chromium(server, report, options.rounds)
    (ROOT / ".build" / "inspector-bench.json").write_text(json.dumps(report.lines, indent=1))
    if report.over:
        sys.exit(f"{len(report.over)} over the limit: {', '.join(report.over)}")


main()
