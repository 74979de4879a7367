"""What the client itself records: the hostile texts, in every place that takes one, and the logins of `make demo`."""
import os
import re
import subprocess

from inspector_browser import ROOT, WAYBILL, Browser, Server, check, run

TEXTS = 21
# Besides the one script, nothing that a text could have brought in may be in a page.
BROUGHT_IN = """Array.from(document.querySelectorAll('*')).flatMap(e => e.getAttributeNames()
    .filter(n => n.startsWith('on') || ['style', 'srcset', 'srcdoc', 'autofocus'].includes(n)).map(n => e.localName + ' ' + n))
    .concat(Array.from(document.querySelectorAll('script:not([src*="assets/"]), style, img, iframe, object, embed, base, main link'),
    e => e.localName))"""


def record_hostile(browser, folder):
    """Recorded with the library into a store, and delivered to a collector; both are looked at, in full."""
    folder.mkdir(parents=True)
    collected = folder / "collected"
    ingest, read = (run("token", "add", collected, "--role", role) for role in ("ingest", "read"))
    collector = Server(collected)
    environment = {**os.environ, "WAYBILL_COLLECTOR": collector.url, "WAYBILL_TOKEN": ingest}
    subprocess.run([WAYBILL.parent / "TestProcess", "hostile", folder / "recorded"], check=True, env=environment, capture_output=True)
    alone = Server(folder / "recorded" / "waybill.sqlite")
    for name, server, token in [("by the collector", collector, read), ("from the file", alone, None)]:
        with Browser(browser, server, f"hostile {name}", token=token) as user:
            look_at_all(user, name)
        server.stop()


def look_at_all(user, name):
    page = user.open("/transactions?limit=100", f"hostile-{name.split()[-1]}")
    addresses = [link.get_attribute("href") for link in page.locator(".rows a").all()]
    check(len(addresses) == TEXTS, f"hostile {name}: {len(addresses)} transactions")
    lists = page.locator("main").inner_text()
    check("<script>alert('hostile-0')</script>" in lists, f"hostile {name}: a use case is called as it was written")
    seen = {address: unfolded(user, f"/{address}", name) for address in addresses}
    user.open("/network?limit=100", f"hostile-network-{name.split()[-1]}")
    requests = [link.get_attribute("href") for link in page.locator(".rows a").all()]
    check(len(requests) == TEXTS, f"hostile {name}: {len(requests)} requests")
    seen |= {address: unfolded(user, f"/{address}", name) for address in requests}
    for number in range(TEXTS):
        # As an attribute, an event's name and an error; in the request's URL, header fields and bodies.
        for kind in ("transactions", "network"):
            mark = re.compile(rf"hostile-{number}(?!\d)")
            told = max((len(mark.findall(text)) for address, text in seen.items() if address.startswith(kind)), default=0)
            check(told >= 2, f"hostile {name}: hostile-{number} stands {told} times in {kind}")


def unfolded(user, path, name):
    """The text of a page with all that it folds, in which nothing of what was recorded does anything."""
    page = user.open(path)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    brought = page.evaluate(BROUGHT_IN)
    check(brought == [], f"hostile {name}, {path}: {brought[:5]}")
    links = page.evaluate("Array.from(document.querySelectorAll('a[href]'), a => a.href).filter(h => !h.startsWith(location.origin + '/'))")
    check(links == [], f"hostile {name}, {path} leads to {links[:3]}")
    return page.locator("main").inner_text()


def follow_demo(browser):
    """The store of `make demo`, from a client's request to the server's part inside it."""
    store = ROOT / ".build" / "demo" / "collector" / "waybill.sqlite"
    if not store.exists():
        return check(False, "the demo was not run: `make demo RUNS=40`")
    server = Server(store)
    with Browser(browser, server, "demo") as user:
        page = user.open("/transactions?use_case=login&outcome=failed", "demo")
        rows = page.locator(".rows li")
        check(rows.count() == rows.filter(has_text="failed").count() > 0, "the demo has failed logins")
        rows.filter(has_text="2 sources").first.locator("a").click()
        page.wait_for_url("**/transactions/*")
        lanes = page.locator("figure li > span").all_inner_texts()
        check(len(lanes) == 3 and lanes[1].startswith("POST /"), f"the demo's server stands inside the client's request: {lanes}")
        depths = page.evaluate("Array.from(document.querySelectorAll('figure li'), li => /d\\d/.exec(li.className)?.[0] ?? '')")
        check(depths == ["", "d1", "d2"], f"each inside the one before: {depths}")
        page.locator("figure li a").first.click()
        check("server " in page.locator("details:target").inner_text(), "the request tells how long the server took")
        user.picture("demo-transaction", full=True)
    server.stop()
