"""What one user experienced: from the first page in at most three actions, and lists that lead back to where they were."""
import pytest
import sets
from waybill import WAYBILL, execute

USER = "user-7"


@pytest.fixture(scope="module")
def server(serve, sample_store):
    return serve(sample_store / "sample.sqlite")


@pytest.mark.parametrize("width, scheme, script", [
    (1280, "light", True), (1280, "dark", False), (390, "dark", True), (390, "light", False)])
def test_what_a_user_experienced_takes_three_actions(width, scheme, script, visit, server):
    user = visit(server, width, scheme, script)
    page = user.open("/")
    page.get_by_label("Search").fill(f"attribute:user={USER}")  # 1
    page.get_by_label("Search").press("Enter")  # 2
    page.wait_for_url("**filter=**")
    page.get_by_role("link", name="By session").click()  # 3
    page.wait_for_url("**/sessions?**")
    assert page.get_by_role("heading", level=1).inner_text() == f"Sessions of user {USER}"
    assert page.locator("main h2").count() > 3, "by day and session"
    cells = page.locator(".what dl").inner_text()
    assert "transactions" in page.locator(".line").inner_text() and "com.example.shop" in cells and "2.1" in cells
    assert all(f"user={USER}" in row for row in page.locator(".rows span").all_inner_texts())
    user.picture("sessions", full=True)
    user.assert_readable()
    if script:
        assert user.fits()
        user.assert_accessible()
        user.unfold("main details")
        user.assert_accessible()
        assert user.fits(), "unfolded, it fits the window"
        user.picture("sessions-unfolded")


def test_the_same_is_printed_by_one_command(visit, server, sample_store):
    listed = execute(
        WAYBILL, "list", sample_store / "sample.sqlite", f"attribute:user={USER}", "--limit", "500").stdout
    page = visit(server).open(f"/sessions?filter=attribute:user%3D{USER}&limit=500")
    codes = page.locator(".rows code").all_inner_texts()
    assert len(codes) > 10 and all(code in listed for code in codes), "a busy machine may show the newest only"


@pytest.mark.parametrize("script", [True, False])
def test_every_value_leads_to_the_transactions_with_it_and_without_it(script, visit, server):
    user = visit(server, script=script)
    page = user.open("/transactions")
    page.locator(".rows a").first.click()
    value = page.locator("details.value", has_text="variant=").first
    text = value.locator("summary").inner_text()
    value.locator("summary").click()
    value.get_by_role("link", name="Without these").click()
    page.wait_for_url("**/transactions?filter=**")
    rows = page.locator(".rows span").all_inner_texts()
    assert len(rows) == 50 and not any(text in row for row in rows)
    page.locator(".facets > summary").click()
    other = page.locator(".facets details.value", has_text="user-").first
    name = other.locator("summary").inner_text()
    other.locator("summary").click()
    other.get_by_role("link", name="Only these").click()
    page.wait_for_url("**user%3D**")
    assert "filter=-attribute" in page.url, "the filter is kept"
    rows = page.locator(".rows span").all_inner_texts()
    assert rows and all(f"user={name}" in row and text not in row for row in rows)


@pytest.mark.parametrize("script", [True, False])
def test_a_head_sorts_and_turns_round(script, visit, server):
    page = visit(server, script=script).open("/transactions?use_case=search&outcome=succeeded")
    assert "transactions" in page.locator("[data-fresh]").inner_text(), "it says how many there are"
    shortest = {}
    for arrow in ("↓", "↑"):
        page.get_by_role("link", name="Duration").click()
        page.get_by_role("link", name=f"Duration {arrow}").wait_for()
        shortest[arrow] = page.locator(".rows data").first.inner_text()
        assert "outcome=succeeded" in page.url and "use_case=search" in page.url, "the filter is kept"
    assert shortest["↓"].endswith(" s") and shortest["↑"].endswith(" ms")
    page.get_by_role("link", name="Begun").click()
    page.get_by_role("link", name="Begun ↓").wait_for()
    assert "sort" not in page.url


@pytest.mark.parametrize("way", ["back", "Escape", "link"])
@pytest.mark.parametrize("list", ["/transactions?outcome=failed", "/network?status=4xx", "/sessions?filter=attribute:variant%3DA"])
def test_the_way_back_keeps_filter_place_and_focus(way, list, visit, server):
    user = visit(server)
    page = user.open(list)
    address = page.url
    row = page.locator(".rows a").nth(40)
    row.scroll_into_view_if_needed()
    user.wait("scrollY > 300")
    target = row.get_attribute("href")
    row.click()
    page.wait_for_url("**" + target)
    if way == "back":
        page.go_back()
    elif way == "Escape":
        page.keyboard.press("Escape")
    else:
        page.locator("a[rel=up]").click()
    page.wait_for_url(address)
    page.locator(".rows a:focus").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('href')") == target
    place = page.evaluate("document.activeElement.getBoundingClientRect().top / innerHeight")
    assert page.evaluate("scrollY") > 300 and 0 < place < 1, "the row is in view"


@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_in_lists_with_their_values_unfolded(width, visit, server):
    user = visit(server, width)
    for name in ("transactions", "network"):
        user.open(f"/{name}", f"{name}-sample")
        user.unfold("main details")
        user.assert_accessible()
        user.assert_readable()
        assert user.fits()
        user.picture(f"{name}-unfolded", full=True)


def test_the_network_and_an_open_transaction_follow_the_store(visit, inspector):
    app, transaction = sets.Recorder(sets.APP, sets.now()), sets.guid()

    def deliver():
        inspector.post(app.set())
        app.forget()

    app.open(0, transaction, 1)
    deliver()
    network = visit(inspector).open("/network")
    page = visit(inspector).open(f"/transactions/{transaction}")
    for each in (network, page):
        each.locator(".live[data-state=live]").wait_for()
    app.request(1_000, 2_000, "/followed")[1]()
    deliver()
    row = page.locator(".bars li.x", has_text="followed")
    row.wait_for()
    network.locator(".rows.net li.new", has_text="/followed").wait_for()
    row.locator("summary").first.click()
    app.add(5_000_000, "finished", outcome="succeeded")
    deliver()
    page.locator(".what.succeeded").wait_for()
    assert page.locator(".live").count() == 0, "nothing more is to come"
    assert row.locator("> details[open]").count() == 1, "what was unfolded stays unfolded"
