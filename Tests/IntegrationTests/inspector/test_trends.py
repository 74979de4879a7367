"""Trends and volume: whether a version is slower, and the part of the time that a list shows, by mouse or by form."""
import csv
import io
import re
import urllib.parse

import pytest
from waybill import waybill


@pytest.fixture(scope="module")
def server(serve, sample_store):
    return serve(sample_store / "sample.sqlite")


@pytest.fixture(scope="module")
def asked(sample_store):
    """The rows of `waybill ask duration`, by version; the row of each version without steps has no start."""
    printed = waybill(
        "ask", "duration", sample_store / "sample.sqlite", "--use-case", "login", "--by", "version", "--every", "1d",
        "--csv")
    return list(csv.DictReader(io.StringIO(printed)))


def times(page):
    query = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
    return query["since"][0], query["until"][0]


def total(page):
    """A page counts for 100 ms at most, so a busy machine may need another try."""
    for _ in range(20):
        # Above the columns, or on the page of endpoints above their table.
        text = page.locator(".line b, main p b, main section h2").first.inner_text()
        exact = re.fullmatch(r"(\d+) \w+", text)
        if exact and page.locator(".volume figcaption").count():
            return int(exact[1])
        page.reload()
    raise AssertionError(f"After 20 tries, the page says only: {text}")


@pytest.mark.parametrize("script", [True, False])
def test_did_a_version_make_login_slower_in_three_actions(script, visit, server, asked):
    """The first of the questions that people come with: from the first page, by two links."""
    page = visit(server, script=script).open("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Use cases").click()
    page.get_by_role("link", name="login", exact=True).first.click()
    page.wait_for_url("**/use-cases/login")
    trend = page.locator("section", has_text="p50 and p95 over time by version")
    rows = trend.locator(":scope > .scroll tbody tr")
    shown = {row.locator("th").inner_text(): row for row in rows.all()}
    expected = {row["segment"]: row for row in asked if not row["start"]}
    assert set(shown) == set(expected) and {"2.0", "2.1", "2.2"} <= set(shown)
    for version, row in shown.items():
        assert row.locator("td[data-label=Count]").inner_text() == expected[version]["count"]
        assert row.locator("td[data-label=p95]").inner_text()
        first = next(step["start"] for step in asked if step["segment"] == version and step["start"])
        assert row.locator("td[data-label='First seen']").inner_text() == first[:10], "its first day"
    marked = trend.locator(".columns text").all_text_contents()
    assert marked == ["2.1", "2.2"], "what began within the picture is marked"


def test_the_numbers_over_time_are_those_of_the_command(visit, server, asked):
    user = visit(server)
    page = user.open("/use-cases/login/duration")
    file = user.download(page.get_by_role("link", name="CSV"))
    with open(file.path(), newline="") as rows:
        assert list(csv.DictReader(rows)) == asked
    page.locator("section", has_text="over time by version").locator("details.numbers summary").click()
    steps = [row for row in asked if row["segment"] == "2.1" and row["start"]]
    table = page.locator("h3", has_text="version 2.1").locator("xpath=following-sibling::div[1]")
    assert table.locator("tbody th").all_inner_texts() == [row["start"][:10] for row in steps]
    assert table.locator("td[data-label=Count]").all_inner_texts() == [row["count"] for row in steps]
    page.locator("select[name=by]").select_option("variant")
    page.wait_for_url("**by=variant**")
    assert page.get_by_role("heading", name="p50 and p95 over time by variant").count() == 1


@pytest.mark.parametrize("width, scheme", [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_trends_and_volumes_fit_and_are_accessible(width, scheme, visit, server):
    user = visit(server, width, scheme)
    for name, path in {
            "trend": "/use-cases/login", "trend-duration": "/use-cases/login/duration?by=variant",
            "volume": "/transactions", "volume-network": "/network?since=2026-02-20&until=2026-02-25",
            "volume-errors": "/errors", "volume-endpoints": "/endpoints",
            "trend-endpoint": "/endpoints"}.items():
        page = user.open(path)
        if name == "trend-endpoint":
            page.locator(".endpoints tbody a").first.click()
            page.wait_for_url("**/endpoint?**")
        user.picture(name, full=True)
        user.assert_readable()
        user.assert_accessible()
        user.unfold("main details")
        user.assert_accessible()
        assert user.fits(), "unfolded, it fits the window"


@pytest.mark.parametrize("path", ["/transactions", "/network", "/errors", "/endpoints"])
def test_dragging_over_the_columns_selects_their_time(path, visit, server):
    page = visit(server).open(path)
    before = total(page)
    box = page.locator(".volume .columns").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * .4, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * .5, middle, steps=4)
    page.mouse.move(box["x"] + box["width"] * .6, middle, steps=4)
    page.mouse.up()
    page.wait_for_url("**since=**")
    since, until = times(page)
    assert since < until and 0 < total(page) < before
    assert page.locator("input[name=since]").input_value() == since, "the form says what is shown"
    assert page.locator("input[name=until]").input_value() == until


@pytest.mark.parametrize("script", [True, False])
def test_a_column_is_a_link_to_its_time(script, visit, server):
    page = visit(server, script=script).open("/transactions?outcome=failed")
    column = page.locator(".volume .columns a").nth(3)
    count = int(column.locator("title").text_content().split(": ")[1].split()[0])
    column.locator("rect").first.click()
    page.wait_for_url("**since=**")
    assert "outcome=failed" in page.url and total(page) == count
    assert page.locator(".rows > li").count() == min(count, 50)


@pytest.mark.parametrize("script", [True, False])
def test_any_range_is_written_into_the_form(script, visit, server):
    page = visit(server, script=script).open("/transactions")
    page.locator(".range summary").click()
    page.locator("input[name=since]").fill("2026-02-20")
    page.locator("input[name=until]").fill("2026-02-21")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**until=2026-02-21**")
    assert times(page) == ("2026-02-20", "2026-02-21")
    assert 0 < total(page) < 400
    page.get_by_role("link", name="Clear").click()
    assert "since" not in page.url
