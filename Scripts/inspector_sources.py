"""Checks of the pages of sources and of delivery; run by `check-inspector`."""
import json
import pathlib
import time

import inspector_sets as sets
from inspector_browser import Browser, check, contrast


def prepare(server, ingest):
    """A phone with gaps, drops and a clock that was set, a version that renamed an event, and a fact that is rejected."""
    now = int(time.time() * 1_000_000)
    phone = sets.Recorder({**sets.APP, "device": "iPhone18,2"}, now - 7_200_000_000)
    transaction = sets.guid()
    phone.open(0, transaction, 0)
    for index in range(40):
        phone.add(1_000_000 * index + 1000, "event", event=1)
    phone.add(60_000_000, "closed", outcome="succeeded")
    body = phone.set()
    share = body["sources"][0]
    share["facts"] = [fact for fact in phone.facts if fact["sequence"] not in (7, 8, 9, 21)]
    share["dropped"] = [{"first": 43, "last": 46, "reason": "quota"}, {"first": 47, "last": 47, "reason": "damaged"}]
    share["ledger"] = {"recorded": 50, "delivered": 0, "quarantined": 0, "pending": 45, "refused": 3, "dropped": {"quota": 4, "damaged": 1}}
    share["clocks"].append({"at_us": 30_000_000, "offset_us": phone.started + 3_600_000_000})
    share["attributes"] = {"environment": "staging"}
    receipt = server.send(body, ingest)
    check(not receipt.get("rejected"), f"the phone's set was rejected: {str(receipt)[:300]}")
    renamed = sets.Recorder({**sets.APP, "app_version": "4.3.0 (1201)"}, now - 3_600_000_000)
    renamed.open(0, sets.guid(), 0)
    renamed.add(1000, "event", event=1)
    body = renamed.set()
    body["sources"][0]["names"] = [{"use_case": 0, "name": "login"}, {"use_case": 0, "event": 1, "name": "credentialsSent"}]
    server.send(body, ingest)
    body = phone.set()
    body["set"] = sets.guid()
    body["sources"][0]["facts"] = [{"kind": "closed", "sequence": 49, "part": 1, "at_us": 61_000_000, "outcome": "failed"}]
    receipt = server.send(body, ingest)
    check(len(receipt.get("rejected", [])) == 1, f"a second closing is rejected: {receipt}")
    return phone.id


def watch_delivery(browser, server, token, ingest):
    phone = prepare(server, ingest)
    with Browser(browser, server, "sources", token=token) as user:
        page = user.open("/sources", "sources")
        rows = page.locator(".rows li")
        check(rows.count() > 5, f"{rows.count()} sources")
        check("4 missing in 2 gaps" in page.locator(f"a[href$='{phone}']").inner_text(), "the list tells of gaps")
        page.get_by_role("searchbox").fill("iphone18,2")
        page.keyboard.press("Enter")
        page.wait_for_url("**text=iphone18%2C2**")
        check(rows.count() == 1, "the search finds a device")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/sources/{phone}")
        text = page.locator("main").inner_text()
        for told in ["7 to 9", "4 facts have not come in", "dropped: quota", "environment=staging", "1 h forward" if "1 h forward" in text else "60 min forward"]:
            check(told in text, f"a source's page tells: {told}")
        page.keyboard.press("Escape")
        page.wait_for_url("**/sources")
        page.get_by_label("Every app").select_option("login-server")
        page.wait_for_url("**app=login-server**")
        rows.first.locator("a").click()
        page.wait_for_url("**/sources/*")
        text = page.locator("main").inner_text()
        check("± " in text and "requests, " in text, "a server's clock is compared with its clients'")
        page.locator(".panel table a[href*='transactions/']").first.click()
        page.wait_for_url("**/transactions/*")
        page = user.open("/delivery")
        text = page.locator("main").inner_text()
        for told in ["the part is closed already by another fact", "credentialsSent", "event 1 of login", "new facts in"]:
            check(told in text, f"the delivery tells: {told}")
        with page.expect_download() as waiting:
            page.get_by_role("link", name="JSON").click()
        groups = json.loads(pathlib.Path(waiting.value.path()).read_text())["groups"]
        check([group["count"] for group in groups if group["source"] == phone] == [1], "the rejections as JSON")
        page.get_by_text("As a table").click()
        check(page.locator("details.table tbody tr, details.table tr").count() >= 2, "the chart has a table")
        hostile = user.open("/sources?text=hostile", "sources-hostile")
        check(hostile.locator(".rows li").count() == len(sets.HOSTILE), "hostile sources are listed")
        check(hostile.locator("script, style, img, iframe, base").count() == 1, "sources: one script and nothing else")
        for address in [link.get_attribute("href") for link in hostile.locator(".rows a").all()]:
            user.open("/" + address)
    for width, scheme, script in [(1280, "light", True), (1280, "dark", True), (360, "light", True), (360, "dark", False), (2560, "light", True)]:
        name = f"{width}-{scheme}{'' if script else '-plain'}"
        with Browser(browser, server, name, width, scheme, script, token) as user:
            for place, path in {"sources": "/sources", "source": f"/sources/{phone}", "delivery": "/delivery"}.items():
                page = user.open(path, f"{place}-{name}", full=True)
                contrast(page, f"{path} {name}")
    with Browser(browser, server, "print", token=token) as user:
        user.page.emulate_media(media="print")
        user.open("/delivery", "delivery-print", full=True)
