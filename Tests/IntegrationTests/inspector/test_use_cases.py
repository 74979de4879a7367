"""What people do with the pages of use cases: find one, ask about it, follow a number, take the numbers away."""
import csv
import json
import pathlib
import urllib.parse

import pytest
from waybill import waybill


@pytest.fixture
def user(visit, inspector):
    return visit(inspector)


@pytest.fixture
def numbers(user):
    """The rows of a file, read by another parser than ours."""
    def download(within=user.page):
        file = user.download(within.get_by_role("link", name="CSV"))
        assert file.suggested_filename.endswith(".csv")
        return list(csv.DictReader(pathlib.Path(file.path()).read_bytes().decode().splitlines(keepends=True)))

    return download


@pytest.fixture
def ask(inspector):
    """The same of the command line."""
    return lambda kind, *words: json.loads(waybill("ask", kind, inspector.store, *words, "--json"))


def show(page, expected):
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url(expected)


def test_the_list_leads_to_a_use_case_and_a_number_to_its_transactions(user, numbers, ask):
    page = user.open("/use-cases")
    rows = {row["name"]: row for row in numbers()}
    login = next(case for case in ask("summary")["use_cases"] if case["name"] == "login")
    assert int(rows["login"]["runs"]) == login["runs"], "the file says how many logins"
    assert int(rows["login"]["failed"]) == login["outcomes"]["failed"], "and how many failed"
    page.get_by_role("link", name="login", exact=True).first.click()
    page.wait_for_url("**/use-cases/login")
    outcomes = numbers(page.locator("section", has_text="Outcomes"))
    assert page.locator(".columns > a").count() > 0
    assert sum(int(row["runs"]) for row in outcomes) == login["runs"]
    errors = numbers(page.locator("section", has_text="Errors"))
    assert [int(row["count"]) for row in errors] == [error["count"] for error in login["errors"]]
    page.locator(".answer .outcomes a", has_text="failed").click()
    page.wait_for_url("**/transactions?use_case=login&outcome=failed")
    assert page.locator(".rows li").count() == page.locator(".rows li.failed").count() > 0
    page.go_back()
    page.locator("details.numbers summary").first.click()
    assert page.locator("details.numbers[open] td a").count() > 0, "the numbers stand below the chart"


def test_a_duration_is_asked_for_by_its_form(user, numbers, ask):
    page = user.open("/use-cases/login/duration")
    page.locator("select[name=from]").select_option("requestSent")
    page.locator("select[name=to]").select_option("responseReceived")
    show(page, "**from=requestSent**")
    expected = ask("duration", "--use-case", "login", "--from", "requestSent", "--to", "responseReceived")["total"]
    assert int(numbers()[0]["p50_us"]) == expected["statistics"]["p50_us"]
    assert page.locator(".marks text").count() == 4, "its quantiles are marked"
    user.picture("ask-duration", full=True)


def test_a_funnel_is_asked_for_by_its_form(user, numbers, ask):
    page = user.open("/use-cases/login/funnel")
    steps = page.locator("select[name=step]")
    assert steps.nth(1).input_value() != "", "a funnel has steps from the beginning"
    assert len(numbers()) == len(page.locator("tbody th").all_inner_texts()) >= 4, "as many in the file as on the page"
    chosen = ["^", "requestSent", "serverAccepted", "$"]
    for number in range(steps.count()):
        steps.nth(number).select_option(chosen[number] if number < 4 else "")
    page.locator("input[name=within]").fill("1h")
    show(page, "**step=serverAccepted**")
    address = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
    assert address.get("step") == chosen and "filter" not in address
    expected = ask("funnel", "--use-case", "login", "--steps", ",".join(chosen), "--within", "1h")["total"]["steps"]
    assert [int(row["reached"]) for row in numbers()] == [step["reached"] for step in expected]
    user.picture("ask-funnel", full=True)


def test_the_last_events_of_what_failed_are_told(user, numbers):
    page = user.open("/use-cases/login/dropoff?outcome=failed", "ask-dropoff")
    shown = page.locator("tbody th").all_inner_texts()
    assert [row["last_event"] for row in numbers()] == shown == ["responseReceived"]


def test_the_server_has_its_leg(user, numbers):
    page = user.open("/use-cases/login/legs")
    assert "server" in page.locator("tbody").inner_text()
    assert sum(int(row["total_us"]) for row in numbers()) > 0


def test_what_differs_about_failed_logins_is_what_the_command_says(user, numbers, ask):
    page = user.open("/use-cases/login/why", "ask-why")
    expected = ask("why", "--use-case", "login", "--outcome", "failed")["differences"]
    assert [row["value"] for row in numbers()] == [difference["trait"]["value"] for difference in expected] != []
    assert page.locator("tbody tr").count() == len(expected)


def test_two_variants_are_compared_by_their_form(user, numbers, ask):
    page = user.open("/use-cases/login/compare", "ask-compare-nothing")
    page.locator("select[name=by]").select_option("variant")
    page.wait_for_url("**by=variant**")
    page.locator("select[name=a]").select_option("A")
    page.locator("select[name=b]").select_option("B")
    show(page, "**a=A**")
    expected = ask("compare", "--use-case", "login", "--by", "variant", "--a", "A", "--b", "B")
    assert page.locator(".sentences li").all_inner_texts()[0] == expected["rates"][0]["sentence"]
    assert page.locator(".whisker").count() == 6, "each measure has its interval"
    verdicts = [row["verdict"] for row in expected["rates"] + expected["quantiles"]]
    assert [row["verdict"] for row in numbers()] == verdicts
    user.picture("ask-compare", full=True)
    user.assert_readable()


def test_a_mistake_in_a_question_is_one_sentence(user, inspector):
    # Not as a page, since a browser complains of every answer with the status 400.
    response = user.page.request.get(f"{inspector.url}/use-cases/login/duration?from=requestSend")
    assert response.status == 400 and "did you mean “requestSent”?" in response.text()


def test_keys_lead_from_use_case_to_question_and_back(user):
    page = user.open("/use-cases")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.querySelector('.cases h2 a')"), "j goes to the first"
    page.keyboard.press("Enter")
    page.wait_for_url("**/use-cases/*")
    assert page.locator(".columns a[tabindex='-1']").count() > 0, "the columns are no stops"
    page.get_by_role("link", name="Funnel").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/funnel")
    page.locator("select[name=step]").first.focus()
    assert page.evaluate("document.activeElement.name") == "step", "the form is reached"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_url("**/use-cases")


def test_names_that_would_break_an_address_or_a_page_are_text(user):
    page = user.open("/use-cases?text=hostile", "use-cases-hostile", full=True)
    links = [link.get_attribute("href") for link in page.locator(".cases h2 a").all()]
    assert len(links) > 8
    for link in links:
        for view in ("", "/funnel", "/dropoff"):
            user.open(f"/{link.partition('?')[0]}{view}?outcome=failed")
            assert page.locator("script, img, iframe, base, style").count() == 1, f"{link}{view}: one script"
            assert page.locator("section.answer").count() > 0, f"{link}{view}: an answer"
