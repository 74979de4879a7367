"""The pages of sources and of delivery."""
import json
import pathlib

import pytest
import sets
from odd_sources import record_gaps


@pytest.fixture(scope="module")
def phone(inspector):
    return record_gaps(inspector)


def test_a_source_with_gaps_is_found_and_tells_of_them(visit, inspector, phone):
    page = visit(inspector).open("/sources")
    rows = page.locator(".rows li")
    assert rows.count() > 5
    assert "4 missing in 2 gaps" in page.locator(f"a[href$='{phone}']").inner_text(), "the list tells of gaps"
    page.get_by_role("searchbox").fill("iphone18,2")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=iphone18%2C2**")
    assert rows.count() == 1, "the search finds a device"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/sources/{phone}")
    text = page.locator("main").inner_text()
    for told in ["7 to 9", "4 facts have not come in", "dropped: quota", "environment=staging"]:
        assert told in text
    assert "1 h forward" in text or "60 min forward" in text
    page.keyboard.press("Escape")
    page.wait_for_url("**/sources?text=iphone18%2C2")
    assert rows.count() == 1, "the way back keeps the search"


def test_a_server_s_clock_is_compared_with_its_clients(visit, inspector, phone):
    page = visit(inspector).open("/sources")
    page.get_by_label("Every app").select_option("login-server")
    page.wait_for_url("**app=login-server**")
    page.locator(".rows li").first.locator("a").click()
    page.wait_for_url("**/sources/*")
    text = page.locator("main").inner_text()
    assert "± " in text and "requests, " in text
    page.locator(".panel table a[href*='transactions/']").first.click()
    page.wait_for_url("**/transactions/*")


def test_the_delivery_tells_what_was_rejected_and_renamed(visit, inspector, phone):
    user = visit(inspector)
    page = user.open("/delivery")
    text = page.locator("main").inner_text()
    for told in ["the part is closed already by another fact", "credentialsSent", "event 1 of login", "new facts in"]:
        assert told in text
    groups = json.loads(pathlib.Path(user.download(page.get_by_role("link", name="JSON")).path()).read_text())["groups"]
    assert [group["count"] for group in groups if group["source"] == phone] == [1], "the rejections as JSON"
    page.get_by_text("As a table").click()
    assert page.locator("details.table tr").count() >= 2, "the chart has a table"


def test_hostile_sources_are_text(visit, inspector):
    user = visit(inspector)
    page = user.open("/sources?text=hostile", "sources-hostile")
    assert page.locator(".rows li").count() == len(sets.HOSTILE)
    assert page.locator("script, style, img, iframe, base").count() == 1, "one script and nothing else"
    for address in [link.get_attribute("href") for link in page.locator(".rows a").all()]:
        user.open("/" + address)


def test_the_delivery_can_be_printed(visit, inspector, phone):
    user = visit(inspector)
    user.page.emulate_media(media="print")
    user.open("/delivery", "delivery-print", full=True)
