"""The list of transactions and one transaction, as people use them. Screenshots are left in .build/e2e."""
import http.client
import json
import pathlib
import re

import sets
from haralyzer import HarParser
from large import Opened
from waybill import TIMEOUT


def test_a_login_leads_to_what_was_asked_for_and_ends_when_it_is_given_up(visit, inspector):
    user = visit(inspector, token=None)
    page = user.open("/transactions?outcome=failed", "login")
    assert "/login" in page.url, "without a token there is a login"
    page.keyboard.type(inspector.tokens["read"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/transactions?outcome=failed")
    assert page.locator(".rows li").count() == page.locator(".rows li.failed").count() > 0
    assert page.evaluate("document.cookie") in ("", "waybill_zone=UTC"), "no script sees the token"
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    user.open("/transactions")
    assert "/login" in page.url, "logged out is logged out"


def test_chips_and_choices_filter_and_a_support_code_is_found(visit, inspector):
    user = visit(inspector)
    page = user.open("/transactions")
    rows = page.locator(".rows li")
    page.locator(".chip", has_text="failed").click()
    page.wait_for_url("**?outcome=failed")
    assert 0 < rows.count() == page.locator(".rows li.failed").count()
    page.get_by_label("Every use case").select_option("login")
    page.wait_for_url("**use_case=login**")
    assert "outcome=failed" in page.url and "filter=" not in page.url, "the address has both filters and nothing empty"
    user.picture("filtered")
    page.get_by_role("link", name="Clear").click()
    page.wait_for_url("**/transactions?")
    code = rows.nth(3).locator("code").inner_text()
    page.keyboard.press("/")
    page.keyboard.type(code.lower())
    page.keyboard.press("Enter")
    page.wait_for_url("**filter=**")
    assert rows.count() == 1 and rows.locator("code").inner_text() == code
    user.open("/transactions?outcome=open&since=15m", "empty")


def test_fields_take_input_after_the_reader_stopped_a_search(visit, inspector, places):
    user = visit(inspector)
    for path, field, values in [
            ("/transactions", "use_case", ["login", "purchase"]), (places["compare"], "by", ["version", "variant"])]:
        page = user.open(path)
        page.route(re.compile("[?]"), lambda route: route.fulfill(status=204))  # as Stop, this leaves the page
        for value in values:
            with page.expect_request(re.compile("[?]")) as asked:
                page.locator(f"select[name={field}]").select_option(value, timeout=5000)
            query = asked.value.url.partition("?")[2].split("&")
            assert f"{field}={value}" in query and not any(each.endswith("=") for each in query), "nothing is empty"
            assert not any(each.startswith(("a=", "b=")) for each in query), "values of one thing are none of another"
        assert page.locator("form :disabled").count() == 0
        page.unroute_all()


def test_an_address_that_names_no_row_leaves_the_page_whole(visit, inspector, recorded):
    page = visit(inspector).open(f"/transactions/{recorded.login}#%")
    page.get_by_role("button", name="Copy link").click(timeout=5000)


def test_pages_of_the_list_follow_each_other_and_lead_back(visit, inspector):
    page = visit(inspector).open("/transactions?limit=5")
    rows = page.locator(".rows li")
    first = rows.first.get_attribute("id")
    page.get_by_role("link", name="Older").click()
    page.wait_for_url("**cursor=**")
    assert rows.count() == 5 and rows.first.get_attribute("id") != first
    page.get_by_role("link", name="Newest").click()
    assert rows.first.get_attribute("id") == first


def test_keys_move_help_open_and_lead_back(visit, inspector):
    user = visit(inspector)
    page = user.open("/transactions")
    for key in "jjk":
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement === document.querySelectorAll('.rows a')[0]"), "j and k move"
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible(), "? helps"
    user.picture("keyboard")
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible(), "Escape closes the help"
    page.keyboard.press("Enter")
    page.wait_for_url("**/transactions/*")
    page.keyboard.press("Escape")
    page.wait_for_url("**/transactions")


def test_a_transaction_leads_from_the_request_to_the_server_and_to_its_neighbor(visit, inspector, recorded):
    user = visit(inspector)
    page = user.open(f"/transactions/{recorded.login}")
    labels = page.locator(".bars :has(> svg:is(.p, .x)) > span").all_inner_texts()
    assert labels == ["com.example.shop", "POST /login", "login-server"], "the server's lane is inside the request"
    page.locator(".bars li.x summary").click()
    details = page.locator(".bars li.x details[open]")
    assert "server 12.4 ms" in details.inner_text(), "a request's row unfolds"
    user.picture("request-unfolded")
    details.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "\ncurl 'https://api.example.com/login'" in user.copied()
    page.get_by_role("button", name="Copy link").click()
    assert user.copied() == f"{inspector.url}/transactions/{recorded.login}"
    har = json.loads(pathlib.Path(user.download(page.get_by_role("link", name="HAR")).path()).read_text())
    assert [entry.status for archive in HarParser(har).pages for entry in archive.entries] == [401], "it can be read"
    page.locator("a[rel=prev]").click()
    page.wait_for_url(lambda url: not url.endswith(recorded.login))


def test_what_is_listed_can_be_taken_away_as_one_page(visit, inspector):
    user = visit(inspector)
    page = user.open("/transactions?outcome=failed")
    listed = [code for code in page.locator(".rows code").all_inner_texts()]
    link = page.get_by_role("link", name="All of these as HTML")
    report = pathlib.Path(user.download(link).path()).read_text()
    assert listed and all(code in report for code in listed), "what is listed is in it"
    page = user.open("/transactions?outcome=succeeded")
    others = set(page.locator(".rows code").all_inner_texts()) - set(listed)
    assert others and not any(code in report for code in others), "and nothing else"
    page = user.open("/transactions?text=nothing-is-called-so")
    assert link.count() == 0, "there is nothing to take away"


def test_the_network_leads_to_the_transaction_of_a_request(visit, inspector):
    page = visit(inspector).open("/network?status=4xx&text=login")
    page.locator(".rows a").first.click()
    page.get_by_role("link", name="In: ").click()
    page.wait_for_url("**/transactions/*#x*")
    page.locator("li:target > details[open]").wait_for()


def test_a_command_that_lacks_its_body_says_so_wherever_it_is_taken(visit, inspector, recorded):
    user = visit(inspector)
    page = user.open(recorded.request)
    page.get_by_role("button", name="Copy as cURL").click()
    assert re.match(r": 'The body of [\d.]+ k?B was not kept\.'\n", user.copied())
    page.get_by_role("link", name="In: ").click()
    page.wait_for_url("**/transactions/*#x*")
    assert ": 'The body of " in page.locator("li:target > details[open]").inner_text(), "the transaction's page says it, too"


def test_a_transaction_can_be_printed(visit, inspector, recorded):
    user = visit(inspector)
    user.page.emulate_media(media="print")
    user.open(f"/transactions/{recorded.login}", "print", full=True)


def test_a_new_transaction_comes_at_the_top_unless_the_list_is_paused(visit, inspector):
    def deliver_login():
        app, back = (sets.Recorder(about, sets.now()) for about in (sets.APP, sets.SERVER))
        transaction = sets.login(app, back, 1000, False)
        inspector.post(app.set(), back.set())
        return transaction

    user = visit(inspector)
    page = user.open("/transactions")
    page.locator(".live[data-state=live]").wait_for()
    first = deliver_login()
    page.locator(f"#t-{first}").wait_for()
    assert page.locator(".rows li").first.get_attribute("id") == f"t-{first}"
    user.picture("live")
    page.get_by_role("button", name="Pause").click()
    second = deliver_login()
    page.get_by_text("1 new").wait_for()
    assert page.locator(f"#t-{second}").count() == 0, "paused is paused"
    user.picture("paused")
    page.get_by_role("button", name="Resume").click()
    assert page.locator(f"#t-{second}").count() == 1, "and resumed, it is there"


def test_a_large_transaction_opens_and_its_pages_show_every_request(visit, inspector, recorded):
    user = visit(inspector)
    opened = Opened(user.page, f"{inspector.url}/transactions/{recorded.large}", rounds=1)
    opened.check(user.page)
    user.picture("large")
    print(opened)


def test_the_demo_s_server_stands_inside_the_client_s_request(visit, serve, collected):
    user = visit(serve(collected / "waybill.sqlite"))
    page = user.open("/transactions?use_case=login&outcome=failed", "demo")
    rows = page.locator(".rows li")
    assert rows.count() == rows.filter(has_text="failed").count() > 0, "the demo has failed logins"
    rows.filter(has_text="2 sources").first.locator("a").click()
    page.wait_for_url("**/transactions/*")
    lanes = page.locator(".bars :has(> svg:is(.p, .x)) > span").all_inner_texts()
    assert len(lanes) >= 3 and lanes[1].startswith("POST /")
    classes = page.evaluate("Array.from(document.querySelectorAll('.bars li:is(.p, .x)'), li => li.className)")
    depths = ["".join(re.findall(r"d\d", name)[:1]) for name in classes]
    assert depths[:3] == ["", "d1", "d2"], "each inside the one before"
    page.locator(".bars li.x summary").first.click()
    assert "server " in page.locator(".bars li.x details[open]").inner_text(), "the request tells how long the server took"
    user.picture("demo-transaction", full=True)


def test_a_store_in_one_file_is_shown_without_a_login(visit, serve, copied):
    user = visit(serve(copied / "waybill.sqlite"))
    page = user.open("/transactions", "file")
    assert page.locator(".rows li").count() == 50
    assert page.get_by_role("button", name="Log out").count() == 0, "and there is nobody to log out"


def test_who_has_the_cookie_can_follow_and_holds_up_no_end(serve, copied, recorded):
    server = serve(copied)
    follower = http.client.HTTPConnection(server.address, timeout=TIMEOUT)
    follower.request("GET", "/live", headers={"Cookie": server.log_in(recorded.tokens["read"])})
    assert follower.getresponse().status == 200
    assert server.end() == 0, "it ends when it is asked to, also while somebody follows"
