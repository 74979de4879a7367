"""Reports in Chromium as people look at them, on a phone and on a desk, light and dark, with and without script.

Leaves screenshots in .build/look.
"""
import datetime
import re
import zoneinfo
from itertools import product

import pytest

HOSTILE_TEXTS = 21


@pytest.fixture
def read(visit, samples):
    """`read(report)`: a visitor who has opened it."""
    def start(report, *look, **options):
        user = visit(samples.as_uri(), *look, pictures="look", **options)
        user.open(f"/{report}.html")
        return user

    return start


@pytest.mark.parametrize("report", ["demo", "shop", "exchanges", "hostile", "empty"])
@pytest.mark.parametrize("width, scheme, script", [*product([390, 1280], ["light", "dark"], [True, False])])
def test_a_report_looks_right(report, width, scheme, script, read):
    user = read(report, width, scheme, script)
    page = user.page
    user.picture(report)
    transactions = page.locator("details.t")
    assert (transactions.count() > 0) == (report != "empty")
    assert page.get_by_role("searchbox").is_visible() == (script and report != "empty"), "a search where it works"
    if transactions.count():
        transactions.first.locator("> summary").focus()
        page.keyboard.press("Enter")
        assert transactions.first.get_attribute("open") is not None, "the keyboard unfolds it, also without script"
    if script:
        user.unfold()
        assert user.fits(), "unfolded, it fits the window"
        if report in ("shop", "exchanges"):
            user.picture(f"{report}-unfolded", full=True)


@pytest.fixture
def demo_page(read):
    """The report of the demo, whose transactions are real."""
    return read("demo").page


def test_search_finds_a_support_code_however_it_is_typed(demo_page):
    page, transactions, visible = demo_page, demo_page.locator("details.t"), demo_page.locator("details.t:visible")
    total = transactions.count()
    code = transactions.nth(total // 2).locator("summary code").inner_text()
    for typed in (code, code.replace("-", "").lower(), f"login {code}"):
        page.keyboard.press("/")
        page.keyboard.type(typed)
        assert visible.count() == 1, typed
        assert page.locator("output").inner_text() == f"1 of {total}"
        page.keyboard.press("Escape")
        assert visible.count() == total, "Escape shows all again"
        page.get_by_role("heading", level=1).click()
        page.evaluate("document.activeElement.blur()")


def test_the_filter_shows_what_failed_and_every_outcome_is_a_word(demo_page):
    transactions, visible = demo_page.locator("details.t"), demo_page.locator("details.t:visible")
    assert all(outcome for outcome in transactions.locator("> summary em").all_inner_texts())
    assert transactions.locator("> summary em").count() == transactions.count()
    demo_page.locator(".outcomes li.failed button").click()
    assert 0 < visible.count() < transactions.count()
    assert visible.count() == demo_page.locator("details.failed").count()


def test_a_request_is_copied_as_curl(read):
    user = read("demo")
    with_request = user.page.locator("details.t").first
    with_request.locator("> summary").click()
    exchange = with_request.locator("details:has(> pre)").first
    exchange.locator("> summary").click()
    exchange.get_by_role("button", name="Copy").click()
    user.page.get_by_role("button", name="Copied").wait_for()
    assert user.copied() == exchange.locator("> pre").inner_text()
    notes, command = user.copied().split("curl 'http", 1)
    assert all(line.startswith(": '") for line in notes.splitlines()), "what a shell does nothing for"
    assert "-X POST" in command


@pytest.mark.parametrize("report, script", [("demo", True), ("demo", False), ("shop", True)])
def test_times_are_by_the_reader_s_clock_under_its_days_or_as_written(report, script, read):
    """A report in UTC by a clock half a day ahead; one in another zone, and one without script, as written."""
    there = zoneinfo.ZoneInfo("Pacific/Kiritimati")
    page = read(report, script=script, zone=there.key).page
    told = re.search(r"times in (.*)", page.locator("header dl").inner_text()).group(1)
    offset, zone = re.fullmatch(r"UTC(?:([+-])(\d\d):(\d\d))?", told), there
    if offset:
        shift = datetime.timedelta(hours=int(offset[2] or 0), minutes=int(offset[3] or 0))
        zone = datetime.timezone(-shift if offset[1] == "-" else shift)
        assert not script or shift, "UTC is shown by the reader's clock"
    else:
        assert script and told == f"{there.key}, UTC on hover", "the zone is told"
    days = page.locator("main > section")
    counts = [day.locator("details.t").count() for day in days.all()]
    assert sum(counts) == page.locator("details.t").count() > 0 and all(counts), "a day for each transaction"
    headings = days.locator("> h2").all_inner_texts()
    assert headings == sorted(set(headings), reverse=True), "each day once, the newest first"
    for heading, day in zip(headings, days.all(), strict=True):
        for moment in day.locator("summary time").all()[:3]:
            exact = datetime.datetime.fromisoformat(moment.get_attribute("datetime"))
            shown = exact.astimezone(zone)
            assert moment.inner_text() == shown.strftime("%H:%M:%S.%f")[:12]
            assert heading == shown.strftime("%Y-%m-%d")
            assert not script or moment.get_attribute("title") == f"{exact.strftime('%Y-%m-%d %H:%M:%S.%f')[:23]} UTC"


def test_what_was_recorded_to_break_the_page_shows_as_text(read):
    """And the page has no element that other pages have not."""
    elements = {}
    for report in ("shop", "hostile"):
        user = read(report)
        user.unfold()
        names = user.page.evaluate("Array.from(document.querySelectorAll('*'), element => element.localName)")
        elements[report] = set(names)
    assert elements["hostile"] <= elements["shop"], "nothing is injected"
    page = user.page
    assert page.evaluate("""Array.from(document.querySelectorAll('*')).flatMap(e => e.getAttributeNames())
        .filter(n => n.startsWith('on') || n === 'src' || n === 'style')""") == []
    assert page.locator("script").count() == 1 and page.locator("style").count() == 1
    shown = page.locator("main").inner_text()
    assert [number for number in range(HOSTILE_TEXTS) if f"hostile-{number}" not in shown] == []
    assert "<script>alert('hostile-0')</script>" in shown, "markup is shown as it was written"


def test_bodies_are_shown_and_what_is_missing_of_them_is_said(read):
    user = read("exchanges")
    user.unfold()
    shown = user.page.locator("main").inner_text()
    for text in (
            '"list": [', "256 B that are no text", "The first 4.1 kB of 13.0 kB were kept.",
            "curl 'https://api.example/bodies/text'"):
        assert text in shown
    assert user.page.locator("svg.phases").count() > 0, "where the time went is drawn"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(scheme, read):
    user = read("shop", scheme=scheme)
    user.unfold()
    user.assert_readable()
