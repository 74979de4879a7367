"""A server whose clock is five minutes ahead: one picture all the same, with its uncertainty; and comparisons."""
import pytest
from odd_sources import record_skewed


@pytest.fixture(scope="module")
def logins(inspector):
    return record_skewed(inspector)


def box(page, selector):
    return page.locator(selector).first.bounding_box()


@pytest.mark.parametrize("script", [True, False])
def test_a_transaction_is_shown_by_aligned_clocks_or_by_raw_ones(script, visit, inspector, logins):
    user = visit(inspector, script=script)
    page = user.open(f"/transactions/{logins[-1]}", "clocks-aligned", full=True)
    request, part = box(page, "svg.x > rect"), box(page, "li.l1 svg.p > rect")
    assert request["x"] < part["x"] and part["x"] + part["width"] < request["x"] + request["width"], (
        "aligned, the server's part lies inside the request")
    whisker = box(page, ".bars .u rect")
    assert whisker["x"] < part["x"] < whisker["x"] + whisker["width"], "the whisker is around the beginning"
    text = page.locator("main").inner_text()
    assert "clock +300.0" in text or "clock +299.9" in text, "the offset stands in words"
    assert "by 11 exchanges" in text and "by its own clock" in text, "how it was found, and what the server's said"
    if script:
        user.assert_readable()
    clocks = page.get_by_role("navigation", name="Clocks")
    clocks.get_by_role("link", name="raw").click()
    assert page.url.endswith(f"/transactions/{logins[-1]}?clocks=raw"), "the choice stands in the address"
    assert page.locator(".bars .u").count() == 0, "raw times have no whisker"
    assert box(page, "li.l1 svg.p > rect")["x"] > box(page, "svg.x > rect")["x"] + 100, (
        "raw, the server's part is minutes away")
    user.picture("clocks-raw", full=True)
    page.locator("a[rel=prev]").click()
    assert page.url.endswith("?clocks=raw"), "the neighbor is shown by the same clocks"
    clocks.get_by_role("link", name="aligned").click()
    assert page.locator(".bars .u").count() == 1, "and back"


def test_a_failed_login_is_compared_with_the_last_that_succeeded(visit, inspector, logins):
    user = visit(inspector)
    page = user.open(f"/transactions/{logins[-1]}")
    page.get_by_role("link", name="the last that succeeded").click()
    page.wait_for_url("**/beside?**")
    assert page.url == f"{inspector.url}/beside?a={logins[-1]}&b={logins[-2]}", "the address names both"
    ticks = [figure.locator("text").all_inner_texts() for figure in page.locator("figure").all()]
    assert len(ticks) == 2 and ticks[0] == ticks[1] != [], "one scale of time"
    assert page.locator("table.comparison tbody tr").count() == 12
    told = page.locator("table.comparison").inner_text()
    for words in [
            "POST /users/{id}/login", "200 instead of 401", "succeeded instead of failed", "only in the second",
            "only in the first", "variant=A instead of B", "earlier"]:
        assert words in told
    user.assert_readable()
    user.picture("comparison", full=True)
    page.get_by_role("link", name="raw").click()
    assert page.url.endswith("&clocks=raw"), "by raw clocks, too"
    page.get_by_role("link", name="The other way round").click()
    assert f"a={logins[-2]}" in page.url and page.url.endswith("clocks=raw"), "turned round, by the same clocks"
    page.get_by_role("link", name="aligned").click()
    code = page.locator("section.t h2 code").first.inner_text()
    page.get_by_label("Support code or ID of another one").fill(code.lower())
    page.keyboard.press("Enter")
    page.get_by_text("This is the same transaction twice.").wait_for()


@pytest.mark.parametrize(
    "width, scheme, script", [(360, "light", False), (360, "dark", True), (1280, "dark", True), (2560, "light", True)])
def test_another_transaction_is_chosen_by_its_guid(width, scheme, script, visit, inspector, logins):
    user = visit(inspector, width, scheme, script)
    page = user.open(f"/transactions/{logins[-1]}", "clocks", full=True)
    page.get_by_label("Support code or ID of another one").fill(logins[4])
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/beside?**")
    assert page.locator("figure").count() == 2
    user.open(page.url.removeprefix(inspector.url), "comparison", full=True)


def test_a_comparison_can_be_printed(visit, inspector, logins):
    user = visit(inspector)
    user.page.emulate_media(media="print")
    user.open(f"/beside?a={logins[-1]}&b=before", "comparison-print", full=True)
