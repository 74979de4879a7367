"""Every page, on a phone and on a desk, light and dark, with and without script: what can be measured of its layout."""
import datetime
import re
import zoneinfo

import pytest
from odd_sources import record_gaps, record_skewed

# Width, scheme and script.
LOOKS = [
    (1280, "light", True), (1280, "dark", True), (390, "light", True), (390, "dark", True), (390, "light", False),
    (360, "light", True), (360, "dark", False), (2560, "light", True)]

# What is pictured in whole at every width.
WHOLE = ("transaction", "purchase", "exchange", "sources", "source-with-gaps", "delivery")

# Words of the page that are broken inside although they would have fitted into a line; what has no spaces, as URLs
# have, may be broken.
BROKEN = """() => {
    const texts = document.createTreeWalker(document.querySelector('body'), NodeFilter.SHOW_TEXT), broken = new Set();
    while (texts.nextNode()) {
        const text = texts.currentNode;
        if (text.parentElement.closest('script, svg, pre, .fields, .url, .unseen')) continue;
        for (const found of text.data.matchAll(/(?<=^|\\s)[A-Za-z]{2,20}(?=[\\s,:;]|[.](?:\\s|$)|$)/g)) {
            const range = document.createRange();
            range.setStart(text, found.index);
            range.setEnd(text, found.index + found[0].length);
            if (new Set(Array.from(range.getClientRects(), box => Math.round(box.top))).size > 1) broken.add(found[0]);
        }
    }
    return Array.from(broken);
}"""

# What has to be scrolled sideways, but for code, which is shown as it is, and one line of words to choose from.
SIDEWAYS = """() => Array.from(document.querySelectorAll('main *')).filter(e => e.scrollWidth > e.clientWidth + 1
    && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && !e.closest('pre, .json, .terms')).map(
    e => e.className + ' ' + (e.getAttribute('aria-label') || '') + ': ' + e.scrollWidth + ' in ' + e.clientWidth)"""

# Headings that are aligned otherwise than what stands below them, and rules below headings that have gaps.
SKEWED = """() => Array.from(document.querySelectorAll('main thead tr')).flatMap(head => {
    const table = head.closest('table'), row = Array.from(table.rows).find(row => !row.closest('thead'));
    if (!row || !head.getClientRects().length || row.cells.length !== head.cells.length) return [];
    const names = {start: 'left', end: 'right', '-webkit-right': 'right'};
    const side = cell => { const align = getComputedStyle(cell).textAlign; return names[align] || align; };
    const skewed = Array.from(head.cells).filter((cell, i) =>
        cell.textContent.trim() && row.cells[i].textContent.trim() && side(cell) !== side(row.cells[i]));
    const rules = new Set(Array.from(head.cells, cell => getComputedStyle(cell).borderBottomWidth));
    const gaps = rules.size > 1 ? ['gaps in the rule of ' + table.parentElement.ariaLabel] : [];
    return skewed.map(cell => cell.textContent).concat(gaps);
})"""


@pytest.fixture(scope="module")
def all_places(places, inspector):
    record_skewed(inspector)
    return {**places, "source-with-gaps": f"/sources/{record_gaps(inspector)}"}


@pytest.mark.parametrize("width, scheme, script", LOOKS)
def test_every_page_fits_reads_and_is_aligned(width, scheme, script, visit, inspector, all_places):
    user = visit(inspector, width, scheme, script)
    for place, path in all_places.items():
        page = user.open(path, place, full=width in (390, 1280) or place in WHOLE)
        assert page.locator("header.top").bounding_box()["height"] <= 60, f"{path}: the header is one line"
        user.assert_readable()
        if script:
            user.unfold("details.numbers")
            for what, measure in [("broken inside", BROKEN), ("scrolled sideways", SIDEWAYS), ("not aligned", SKEWED)]:
                assert page.evaluate(measure) == [], f"{path}: {what}"
        if width < 736:
            page.get_by_role("button", name="Menu").click()
        assert page.get_by_role("navigation", name="Pages").get_by_role("link").count() == 6, f"{path}: navigation"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_any_page(scheme, visit, inspector, all_places):
    user, stranger = visit(inspector, scheme=scheme), visit(inspector, scheme=scheme, token=None)
    rules = 0
    for path in [*all_places.values(), "/transactions?outcome=failed&text=nobody", "/login"]:
        visitor = stranger if path == "/login" else user
        visitor.open(path)
        visitor.unfold("main details")
        rules += visitor.assert_accessible()
    assert rules > 300, "axe-core has looked at something"


@pytest.mark.parametrize("scheme, script", [("light", True), ("dark", True), ("light", False)])
def test_what_is_folded_on_a_phone_unfolds(scheme, script, visit, inspector):
    user = visit(inspector, 390, scheme, script)
    page = user.open("/use-cases/login/funnel")
    form = page.locator("form.ask")
    assert not form.is_visible() and page.locator("table").is_visible(), "the answer stands before its form"
    page.get_by_role("button", name="Change the question").click()
    assert form.is_visible(), "the form unfolds"
    user.picture("question")
    form.locator("select[name=step]").nth(1).select_option("requestSent")
    form.get_by_role("button", name="Ask").click()
    page.wait_for_url("**step=requestSent**")
    page.get_by_role("button", name="Menu").click()
    user.picture("menu")
    if script:
        page.keyboard.press("Escape")
        assert page.url.endswith("step=%24") or "step=requestSent" in page.url, "Escape leaves the page alone"
        assert not page.get_by_role("navigation", name="Pages").is_visible(), "and closes the menu"
        page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Network").click()
    page.wait_for_url("**/network")


@pytest.mark.parametrize("script", [True, False])
def test_times_are_by_the_reader_s_clock_or_as_the_server_wrote_them(script, visit, inspector, places):
    """In a zone half an hour off, with UTC on hover."""
    zone = zoneinfo.ZoneInfo("America/St_Johns")
    user = visit(inspector, script=script, zone=zone.key)
    for place in ("transactions", "network", "transaction", "exchange", "sources", "source"):
        page = user.open(places[place])
        moments = page.locator("time[datetime]:not(h2 time)").all()
        assert moments, place
        for moment in moments[:5]:
            exact = datetime.datetime.fromisoformat(moment.get_attribute("datetime"))
            text, utc = moment.text_content(), exact.strftime("%Y-%m-%d %H:%M:%S.%f")[:23]
            written = exact.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S.%f")[:23] if script else utc
            assert text.strip() in written and re.search(r"\d\d:\d\d", text), place
            assert not script or moment.get_attribute("title") == f"{utc} UTC", place
        told = page.locator("footer").inner_text()
        assert ("Times in America/St_Johns, UTC on hover" if script else "Times in UTC.") in told, place
