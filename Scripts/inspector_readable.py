"""What can be measured of how the pages read, at the width of a phone and of a desk, in both schemes: charts, words, choices, the way out."""
import re

from inspector_browser import FOLDER, Browser, check, contrast

LOOKS = [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]

# Lines of quantiles that go through the name of another.
CROSSED = """() => { const names = Array.from(document.querySelectorAll('.marks text'), e => [e.textContent, e.getBoundingClientRect()]);
    const lines = Array.from(document.querySelectorAll('.marks line'), e => e.getBoundingClientRect());
    return names.filter(([, a]) => lines.some(b => b.left > a.left - 1 && b.left < a.right + 1 && b.top < a.bottom && b.bottom > a.top)).map(([name]) => name); }"""
# How much of a chart's width its widest column takes.
WIDEST = """() => { const plot = document.querySelector('.scaled .columns');
    return Math.max(...Array.from(plot.querySelectorAll('rect'), e => e.getBoundingClientRect().width)) / plot.getBoundingClientRect().width; }"""


def charts(browser, server, token, minutes):
    for width, scheme in LOOKS:
        name = f"{width}-{scheme}"
        with Browser(browser, server, name, width, scheme, token=token) as user:
            page = user.open("/use-cases/login/duration", f"read-duration-{name}", full=True)
            check(page.locator(".marks text").all_text_contents() == ["p99", "p95", "p90", "p50"], f"{name}: the quantiles have names")
            crossed = page.evaluate(CROSSED)
            check(crossed == [], f"{name}: a line goes through {crossed}")
            page = user.open(f"/use-cases/login?{minutes}", f"read-minutes-{name}", full=True)
            widest = page.evaluate(WIDEST)
            check(widest < 1 / 10, f"{name}: a column of minutes takes {widest:.0%} of the chart")
            check("Outcomes, each 5 seconds" in page.locator("main").inner_text(), f"{name}: the steps are told")
            page = user.open("/delivery", f"read-delivery-{name}", full=True)
            scale = [int(text) for text in page.locator(".panel .scale span").all_inner_texts()]
            most = int(re.search(r"at most (\d+) fact", page.locator("main").inner_text())[1])
            check(len(scale) == 3 and scale[0] >= most > scale[2] == 0, f"{name}: the arrivals have a scale to {most}: {scale}")
            contrast(page, f"/delivery {name}")


def comparing(browser, server, token):
    """What is compared is chosen, and is said in the same words everywhere."""
    for width, scheme in LOOKS:
        name = f"{width}-{scheme}"
        with Browser(browser, server, name, width, scheme, token=token) as user:
            page = user.open("/use-cases/login/compare", f"read-compare-nothing-{name}", full=True)
            page.locator("select[name=by]").select_option("variant")
            page.wait_for_url("**by=variant**")
            chosen = [page.locator(f"select[name={letter}]").input_value() for letter in "ab"]
            check(chosen == ["A", "B"], f"{name}: the most frequent are compared: {chosen}")
            if width == 390:
                page.get_by_role("button", name="Change the question").click()
            page.locator("select[name=by]").select_option("version")
            page.wait_for_url("**by=version**")
            check("a=A" not in page.url, f"{name}: values of one thing are none of another: {page.url}")
            text = page.locator("main").inner_text()
            check("4.1.0 (1102) and 4.2.0 (1187)" in text, f"{name}: the groups have their names")
            rows = page.locator("tbody tr").all_inner_texts()[:3]
            sentences = page.locator(".sentences li").all_inner_texts()[:3]
            told = [re.search(r"difference of ([-+][\d.]+ points)", sentence)[1] for sentence in sentences]
            check(all(points in row for points, row in zip(told, rows)), f"{name}: the table says what the sentences say: {rows}, {told}")
            user.picture(f"read-compare-{name}", full=True)
            contrast(page, f"/compare {name}")


def filters(browser, server, token):
    for width, scheme in LOOKS:
        name = f"{width}-{scheme}"
        with Browser(browser, server, name, width, scheme, token=token) as user:
            page = user.open("/transactions")
            field = page.get_by_label("Search", exact=True)
            for term in ("outcome:failed", "useCase:login", "event:requestSent", "attribute:variant=B"):
                check(page.locator(f'#terms option[value="{term}"]').count() == 1, f"{name}: {term} is offered")
            field.press_sequentially('os:"iOS 18" -')
            offered = page.evaluate("Array.from(document.getElementById('terms').options, o => o.value)")
            check('os:"iOS 18" -outcome:failed' in offered, f"{name}: the next term is completed, too: {offered[:3]}")
            field.fill("variant=B")
            page.keyboard.press("Enter")
            page.wait_for_url("**filter=variant**")
            reasons = page.locator(".rows span").all_inner_texts()
            check(len(reasons) > 0 and all("variant=B" in reason for reason in reasons), f"{name}: what is printed is found: {reasons[:3]}")
            if width == 390:
                page.get_by_role("button", name="Menu").click()
            page.get_by_role("button", name="Help").click()
            help_text = page.get_by_role("dialog").inner_text()
            check("Filter" in help_text and "took>2s" in help_text and "attribute:sku=A1" in help_text, f"{name}: ? shows the syntax")
            check(page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.getElementById('help'))") <= 0, f"{name}: the help fits")
            user.picture(f"read-help-{name}")
            contrast(page, f"help {name}")
        lost(browser, server, token, width, scheme, name)


def lost(browser, server, token, width, scheme, name):
    """Pages with the status 400 and 404, of which a browser complains: nothing else may be wrong with them."""
    context = browser.new_context(viewport={"width": width, "height": 700}, color_scheme=scheme)
    context.add_cookies([{"name": "waybill_token", "value": token, "url": server.url, "httpOnly": True, "sameSite": "Strict"}])
    page = context.new_page()
    answer = page.goto(f"{server.url}/nothing/at/all")
    check(answer.status == 404 and page.get_by_role("heading", level=1).inner_text() == "Not Found", f"{name}: a page says that nothing is there")
    check(page.evaluate("getComputedStyle(document.body).maxWidth") == "none", f"{name}: it has its stylesheet")
    page.screenshot(path=FOLDER / f"read-nothing-{name}.png")
    page.get_by_role("link", name="All transactions").click()
    page.wait_for_url("**/transactions")
    page.goto(f"{server.url}/transactions?filter=outcome:faild%20took%3E1us")
    page.screenshot(path=FOLDER / f"read-mistake-{name}.png")
    page.get_by_role("link", name="Show outcome:failed took>1us").click()
    page.wait_for_url("**filter=outcome%3Afailed**")
    check(page.locator(".rows li.failed").count() == page.locator(".rows li").count() > 0, f"{name}: what was meant is a link")
    context.close()


def commands(browser, server, token, request):
    """A command that lacks its body says so wherever it is taken."""
    with Browser(browser, server, "command", token=token) as user:
        page = user.open(request)
        page.get_by_role("button", name="Copy as cURL").click()
        copied = page.evaluate("navigator.clipboard.readText()")
        check(re.search(r"\n# The body of [\d.]+ k?B was not kept\.$", copied), f"copied as cURL: {copied}")
        page.get_by_role("link", name="In: ").click()
        page.wait_for_url("**/transactions/*#x*")
        check("# The body of " in page.locator("details:target").inner_text(), "the transaction's page says it, too")
