"""How the pages read, at the width of a phone and of a desk, in both schemes: charts, words, choices, the way out."""
import re

import pytest
from odd_sources import record_gaps, record_skewed

# Lines of quantiles that go through the name of another.
CROSSED = """() => {
    const names = Array.from(document.querySelectorAll('.marks text'), e => [e.textContent, e.getBoundingClientRect()]);
    const lines = Array.from(document.querySelectorAll('.marks line'), e => e.getBoundingClientRect());
    const crosses = (a, b) => b.left > a.left - 1 && b.left < a.right + 1 && b.top < a.bottom && b.bottom > a.top;
    return names.filter(([, a]) => lines.some(b => crosses(a, b))).map(([name]) => name); }"""
# How much of a chart's width its widest column takes.
WIDEST = """() => { const plot = document.querySelector('.scaled .columns');
    return Math.max(...Array.from(plot.querySelectorAll('rect'), e => e.getBoundingClientRect().width))
        / plot.getBoundingClientRect().width; }"""

pytestmark = pytest.mark.parametrize("width, scheme", [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")])


@pytest.fixture(scope="module", autouse=True)
def odd(inspector):
    record_gaps(inspector)
    record_skewed(inspector)


@pytest.fixture
def user(visit, inspector, width, scheme):
    return visit(inspector, width, scheme)


def test_charts_have_names_steps_and_a_scale(user, recorded):
    page = user.open("/use-cases/login/duration")
    assert page.locator(".marks text").all_text_contents() == ["p99", "p95", "p90", "p50"], "the quantiles have names"
    assert page.evaluate(CROSSED) == [], "no line goes through them"
    minutes = f"since={recorded.now - 310_000_000}&until={recorded.now}"
    page = user.open(f"/use-cases/login?{minutes}", "read-minutes", full=True)
    assert page.evaluate(WIDEST) < 1 / 10, "a column of minutes is narrow"
    assert "Outcomes, each 5 seconds" in page.locator("main").inner_text(), "the steps are told"
    page = user.open("/delivery")
    scale = [int(text) for text in page.locator(".panel .scale span").all_inner_texts()]
    most = int(re.search(r"at most (\d+) fact", page.locator("main").inner_text())[1])
    assert len(scale) == 3 and scale[0] >= most > scale[2] == 0, "the arrivals have a scale"
    user.assert_readable()


def test_what_is_compared_is_chosen_and_said_in_the_same_words_everywhere(user, width):
    page = user.open("/use-cases/login/compare", "read-compare-nothing", full=True)
    page.locator("select[name=by]").select_option("variant")
    page.wait_for_url("**by=variant**")
    chosen = [page.locator(f"select[name={letter}]").input_value() for letter in "ab"]
    assert chosen == ["A", "B"], "the most frequent are compared"
    if width == 390:
        page.get_by_role("button", name="Change the question").click()
    page.locator("select[name=by]").select_option("version")
    page.wait_for_url("**by=version**")
    assert "a=A" not in page.url, "values of one thing are none of another"
    assert "4.1.0 (1102) and 4.2.0 (1187)" in page.locator("main").inner_text(), "the groups have their names"
    rows = page.locator("tbody tr").all_inner_texts()[:3]
    sentences = page.locator(".sentences li").all_inner_texts()[:3]
    told = [re.search(r"difference of ([-+][\d.]+ points)", sentence)[1] for sentence in sentences]
    assert all(points in row for points, row in zip(told, rows, strict=True)), "the table says what the sentences say"
    user.picture("read-compare", full=True)
    user.assert_readable()


def test_terms_of_a_filter_are_offered_found_as_printed_and_explained(user, width):
    page = user.open("/transactions")
    field = page.get_by_label("Search", exact=True)
    field.focus()
    page.wait_for_selector("#terms option", state="attached")
    for term in ("outcome:failed", "useCase:login", "event:requestSent", "attribute:variant=B"):
        assert page.locator(f'#terms option[value="{term}"]').count() == 1, f"{term} is offered"
    field.press_sequentially('os:"iOS 18" -')
    offered = page.evaluate("Array.from(document.getElementById('terms').options, o => o.value)")
    assert 'os:"iOS 18" -outcome:failed' in offered, "the next term is completed, too"
    field.fill("variant=B")
    page.keyboard.press("Enter")
    page.wait_for_url("**filter=variant**")
    reasons = page.locator(".rows span").all_inner_texts()
    assert reasons and all("variant=B" in reason for reason in reasons), "what is printed is found"
    if width == 390:
        page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Help").click()
    text = page.get_by_role("dialog").inner_text()
    assert "Filter" in text and "took>2s" in text and "attribute:sku=A1" in text, "? shows the syntax"
    assert page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.getElementById('help'))") <= 0, "the help fits"
    user.picture("read-help")
    user.assert_readable()


def test_who_is_lost_is_led_back_and_who_mistyped_is_led_to_what_was_meant(user):
    page = user.page
    answer = page.goto(f"{user.url}/nothing/at/all")
    assert answer.status == 404 and page.get_by_role("heading", level=1).inner_text() == "Not Found"
    assert page.evaluate("getComputedStyle(document.body).maxWidth") == "none", "it has its stylesheet"
    user.picture("read-nothing")
    page.get_by_role("link", name="All transactions").click()
    page.wait_for_url("**/transactions")
    page.goto(f"{user.url}/transactions?filter=outcome:faild%20took%3E1us")
    user.picture("read-mistake")
    page.get_by_role("link", name="Show outcome:failed took>1us").click()
    page.wait_for_url("**filter=outcome%3Afailed**")
    assert page.locator(".rows li.failed").count() == page.locator(".rows li").count() > 0
    # A browser complains of pages with the status 400 and 404, and of nothing else.
    assert all("Failed to load resource" in complaint for complaint in user.complaints)
    user.complaints.clear()
