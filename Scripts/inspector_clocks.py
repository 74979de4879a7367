"""A server whose clock is five minutes ahead: one picture all the same, with its uncertainty; and two transactions side by side."""
import time

import inspector_sets as sets
from inspector_browser import Browser, check, contrast

AHEAD = 300_000_000


def logins(started):
    """Twelve logins whose ways there and back take differently long, the last one refused and slower; the transactions, and both sources."""
    app, back = sets.Recorder(sets.APP, started), sets.Recorder(sets.SERVER, started + AHEAD)
    transactions = []
    for number in range(12):
        at, is_right = 3_000_000 * number, number < 11
        there, thought, back_again = 2_000 + 9_000 * (number % 4), 8_000 if is_right else 30_000, 1_500 + 7_000 * (number % 3)
        transaction = sets.guid()
        app.open(at, transaction, 0, attributes={"variant": "A" if is_right else "B"})
        app.add(at + 400, "event", event=0)
        app.add(at + 2_000, "event", event=1)
        sent, arrived = at + 2_200, at + 2_200 + there
        answered = arrived + thought
        received = answered + back_again
        opened = app.add(
            sent, "exchange_opened", role="client", method="POST", scheme="https", host="api.example.com", path=f"/users/{4000 + number}/login")
        back.open(arrived, transaction, 0, joined=True, cause={"source": app.id, "sequence": opened})
        back.add(arrived + 300, "event", event=10)
        back.add(answered - 200, "event", **({"event": 11} if is_right else {"event": 12, "error": {"domain": "", "code": 1, "text": "wrong password"}}))
        back.add(answered, "closed", outcome="succeeded")
        app.add(received, "exchange_closed", exchange=opened, state="completed", status=200 if is_right else 401, first_byte_us=received)
        if is_right:
            app.add(received + 500, "event", event=2)
        app.add(received + 2_000, "closed", **({"outcome": "succeeded"} if is_right else {"outcome": "failed", "error": {"domain": "LoginError", "code": 401}}))
        transactions.append(transaction)
    return transactions, (app, back)


def box(page, selector):
    return page.locator(selector).first.bounding_box()


def choose(browser, server, token, transaction, script):
    """By either clocks, also without script."""
    name = "clocks" if script else "clocks-plain"
    with Browser(browser, server, name, script=script, token=token) as user:
        page = user.open(f"/transactions/{transaction}", f"{name}-aligned", full=True)
        request, part = box(page, "figure li.x > svg > rect"), box(page, "figure li.p.l1 > svg > rect")
        check(request["x"] < part["x"] and part["x"] + part["width"] < request["x"] + request["width"], "aligned, the server's part lies inside the request")
        whisker = box(page, "figure .u rect")
        check(whisker["x"] < part["x"] < whisker["x"] + whisker["width"], f"the whisker is around the beginning: {whisker} {part}")
        text = page.locator("main").inner_text()
        check("clock +300.0" in text or "clock +299.9" in text, "the offset stands in words")
        check("by 11 exchanges" in text and "by its own clock" in text, "and by how many exchanges it was found, and what the server's clock said")
        if script:
            contrast(page, "aligned")
        page.get_by_role("navigation", name="Clocks").get_by_role("link", name="raw").click()
        check(page.url.endswith(f"/transactions/{transaction}?clocks=raw"), f"the choice stands in the address: {page.url}")
        check(page.locator("figure .u").count() == 0, "raw times have no whisker")
        part = box(page, "figure li.p.l1 > svg > rect")
        check(part["x"] > box(page, "figure li.x > svg > rect")["x"] + 100, "raw, the server's part is minutes away")
        user.picture(f"{name}-raw", full=True)
        page.locator("a[rel=prev]").click()
        check(page.url.endswith("?clocks=raw"), "the neighbor is shown by the same clocks")
        page.get_by_role("navigation", name="Clocks").get_by_role("link", name="aligned").click()
        check(page.locator("figure .u").count() == 1, "and back")


def compare(browser, server, token, transactions):
    with Browser(browser, server, "beside", token=token) as user:
        page = user.open(f"/transactions/{transactions[-1]}")
        page.get_by_role("link", name="the last that succeeded").click()
        page.wait_for_url("**/beside?**")
        check(page.url == f"{server.url}/beside?a={transactions[-1]}&b={transactions[-2]}", f"the address names both: {page.url}")
        ticks = [figure.locator("text").all_inner_texts() for figure in page.locator("figure").all()]
        check(len(ticks) == 2 and ticks[0] == ticks[1] != [], f"one scale of time: {ticks}")
        rows = page.locator("table.beside tbody tr")
        told = page.locator("table.beside").inner_text()
        check(rows.count() == 12, f"{rows.count()} rows")
        for words in ["POST /users/{id}/login", "200 instead of 401", "succeeded instead of failed", "only in the second", "only in the first", "variant=A instead of B", "earlier"]:
            check(words in told, f"beside: {words}")
        contrast(page, "beside")
        user.picture("beside", full=True)
        page.get_by_role("link", name="raw").click()
        check(page.url.endswith("&clocks=raw"), "by raw clocks, too")
        page.get_by_role("link", name="The other way round").click()
        check(f"a={transactions[-2]}" in page.url and page.url.endswith("clocks=raw"), "turned round, by the same clocks")
        page.get_by_role("link", name="aligned").click()
        code = page.locator("section.t h2 code").first.inner_text()
        page.get_by_label("Support code or ID of another one").fill(code.lower())
        page.keyboard.press("Enter")
        page.get_by_text("This is the same transaction twice.").wait_for()
    for width, scheme, script in [(360, "light", False), (360, "dark", True), (1280, "dark", True), (2560, "light", True)]:
        name = f"beside-{width}-{scheme}"
        with Browser(browser, server, name, width, scheme, script, token) as user:
            page = user.open(f"/transactions/{transactions[-1]}", f"clocks-{width}-{scheme}", full=True)
            page.get_by_label("Support code or ID of another one").fill(transactions[4])
            page.get_by_role("button", name="Show").click()
            page.wait_for_url("**/beside?**")
            check(page.locator("figure").count() == 2, f"{name}: a GUID is taken")
            user.open(page.url.removeprefix(server.url), name, full=True)
    with Browser(browser, server, "beside-print", token=token) as user:
        user.page.emulate_media(media="print")
        user.open(f"/beside?a={transactions[-1]}&b=before", "beside-print", full=True)


def clocks(browser, server, token, ingest):
    transactions, sources = logins(int(time.time() * 1_000_000) - 120_000_000)
    for source in sources:
        server.post(source.set(), ingest)
    choose(browser, server, token, transactions[-1], True)
    choose(browser, server, token, transactions[-1], False)
    compare(browser, server, token, transactions)
