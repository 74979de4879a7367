"""What people do with the pages of use cases: find one, ask about it, follow a number, take the numbers away."""
import csv
import json
import pathlib
import random
import subprocess
import urllib.parse

import inspector_sets as sets
from inspector_browser import FOLDER, WAYBILL, Browser, check, contrast


DAY = 86_400_000_000


def month(server, token, now):
    """Four weeks of logins by two versions of an app, of which the variant B is quicker and fails less."""
    chance = random.Random(7)
    started = now - 27 * DAY
    back = sets.Recorder(sets.SERVER, started)
    apps = [sets.Recorder(sets.APP | {"app_version": version}, started) for version in ("4.1.0 (1102)", "4.2.0 (1187)")]
    for day in range(27):
        count = chance.randint(4, 9) if day % 7 in (5, 6) else chance.randint(12, 24)
        for hour in sorted(chance.gauss(14, 3) % 24 for _ in range(count)):
            app = apps[chance.random() < day / 27]
            at = day * DAY + int(hour * 3_600_000_000)
            run(app, back, max(at, app.facts[-1]["at_us"] + 1_000_000 if app.facts else 0), chance, 10 <= day <= 12)
    for source in (*apps, back):
        server.post(source.set(), token)


def run(app, back, at, chance, is_bad_day):
    """One login, which may be given up before its request, or end with an error."""
    variant = chance.choice("AB")
    transaction = sets.guid()
    app.open(at, transaction, 0, attributes={"variant": variant})
    app.add(at + 400, "event", event=0)
    typing = int(chance.lognormvariate(14.6, 0.7))
    if chance.random() < 0.07:
        app.add(at + typing, "closed", outcome="abandoned")
        return
    at += typing
    app.add(at, "event", event=1)
    (out, busy, home) = (int(chance.lognormvariate(mean, 0.6)) for mean in (9.6, 11.0 if variant == "A" else 10.5, 9.4))
    fails = chance.random() < (0.35 if is_bad_day else 0.12 if variant == "A" else 0.05)
    opened, close = app.request(at + 300, at + 300 + out + busy + home, "/login", 401 if fails else 200, "POST")
    begun = max(at + 300 + out, back.facts[-1]["at_us"] + 1 if back.facts else 0)
    back.open(begun, transaction, 0, joined=True, cause={"source": app.id, "sequence": opened})
    back.add(begun + 100, "event", event=10)
    back.add(begun + busy - 100, "event", event=12 if fails else 11)
    back.add(begun + busy, "closed", outcome="succeeded")
    close()
    end = at + 300 + out + busy + home
    if chance.random() < 0.03:
        app.add(end + 500, "closed", outcome="canceled")
        return
    app.add(end + 500, "event", event=2)
    error = {"domain": "LoginError", "code": chance.choice([401, 401, 403])} if chance.random() < 0.8 else {"domain": "URLError", "code": -1001}
    app.add(end + 9_000, "closed", **({"outcome": "failed", "error": error} if fails else {"outcome": "succeeded"}))


def numbers(page, link):
    """The rows of a file, read by another parser than ours."""
    with page.expect_download() as waiting:
        link.click()
    check(waiting.value.suggested_filename.endswith(".csv"), f"the file's name: {waiting.value.suggested_filename}")
    text = pathlib.Path(waiting.value.path()).read_bytes().decode()
    return list(csv.DictReader(text.splitlines(keepends=True)))


def answer(*question):
    command = [WAYBILL, "ask", question[0], FOLDER / "store", *question[1:], "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def use_cases(browser, server, token):
    """From the list to a number's transactions, with a file of every chart."""
    with Browser(browser, server, "use-cases", token=token) as user:
        page = user.open("/use-cases", "use-cases")
        rows = {row["name"]: row for row in numbers(page, page.get_by_role("link", name="CSV"))}
        login = next(case for case in answer("summary")["use_cases"] if case["name"] == "login")
        check(int(rows["login"]["runs"]) == login["runs"], f"the file says how many logins: {rows['login']}")
        check(int(rows["login"]["failed"]) == login["outcomes"]["failed"], "and how many failed")
        page.get_by_role("link", name="login", exact=True).first.click()
        page.wait_for_url("**/use-cases/login")
        columns = page.locator(".columns > a").count()
        outcomes = numbers(page, page.locator("section", has_text="Outcomes").get_by_role("link", name="CSV"))
        check(columns > 0 and sum(int(row["runs"]) for row in outcomes) == login["runs"], f"{columns} columns, {outcomes}")
        errors = numbers(page, page.locator("section", has_text="Errors").get_by_role("link", name="CSV"))
        check([int(row["count"]) for row in errors] == [error["count"] for error in login["errors"]], f"the errors: {errors}")
        page.locator(".answer .outcomes a", has_text="failed").click()
        page.wait_for_url("**/transactions?use_case=login&outcome=failed")
        check(page.locator(".rows li").count() == page.locator(".rows li.failed").count() > 0, "a number leads to its transactions")
        page.go_back()
        page.locator("details.numbers summary").first.click()
        check(page.locator("details.numbers[open] td a").count() > 0, "the numbers stand below the chart")


def ask(browser, server, token):
    """Every question by its form."""
    with Browser(browser, server, "ask", token=token) as user:
        page = user.open("/use-cases/login/duration")
        page.locator("select[name=from]").select_option("requestSent")
        page.locator("select[name=to]").select_option("responseReceived")
        page.get_by_role("button", name="Show").last.click()
        page.wait_for_url("**from=requestSent**")
        expected = answer("duration", "--use-case", "login", "--from", "requestSent", "--to", "responseReceived")["total"]
        rows = numbers(page, page.get_by_role("link", name="CSV"))
        check(int(rows[0]["p50_us"]) == expected["statistics"]["p50_us"], f"the form's duration: {rows}")
        check(page.locator(".marks text").count() == 4, "its quantiles are marked")
        user.picture("ask-duration", full=True)

        page = user.open("/use-cases/login/funnel")
        steps = page.locator("select[name=step]")
        check(steps.nth(1).input_value() != "", "a funnel has steps from the beginning")
        rows = numbers(page, page.get_by_role("link", name="CSV"))
        shown = page.locator("tbody th").all_inner_texts()
        check(len(rows) == len(shown) >= 4, f"as many steps in the file as on the page: {shown}")
        for number in range(steps.count()):
            steps.nth(number).select_option(["^", "requestSent", "serverAccepted", "$"][number] if number < 4 else "")
        page.locator("input[name=within]").fill("1h")
        page.get_by_role("button", name="Show").last.click()
        page.wait_for_url("**step=serverAccepted**")
        chosen = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
        check(chosen.get("step") == ["^", "requestSent", "serverAccepted", "$"] and "filter" not in chosen, f"the address: {page.url}")
        expected = answer("funnel", "--use-case", "login", "--steps", "^,requestSent,serverAccepted,$", "--within", "1h")["total"]["steps"]
        reached = [int(row["reached"]) for row in numbers(page, page.get_by_role("link", name="CSV"))]
        check(reached == [step["reached"] for step in expected], f"the funnel: {reached}")
        user.picture("ask-funnel", full=True)

        page = user.open("/use-cases/login/dropoff?outcome=failed", "ask-dropoff")
        last = [row["last_event"] for row in numbers(page, page.get_by_role("link", name="CSV"))]
        check(last == page.locator("tbody th").all_inner_texts() == ["responseReceived"], f"the last events: {last}")
        page = user.open("/use-cases/login/legs", "ask-legs", full=True)
        check("server" in page.locator("tbody").inner_text(), "the server has its leg")
        total = sum(int(row["total_us"]) for row in numbers(page, page.get_by_role("link", name="CSV")))
        check(total > 0, "the legs have a file")

        page = user.open("/use-cases/login/compare", "ask-compare-nothing")
        page.locator("select[name=by]").select_option("variant")
        page.wait_for_url("**by=variant**")
        page.locator("select[name=a]").select_option("A")
        page.locator("select[name=b]").select_option("B")
        page.get_by_role("button", name="Show").last.click()
        page.wait_for_url("**a=A**")
        expected = answer("compare", "--use-case", "login", "--by", "variant", "--a", "A", "--b", "B")
        check(page.locator(".sentences li").all_inner_texts()[0] == expected["rates"][0]["sentence"], "the sentences are those of the answer")
        check(page.locator(".whisker").count() == 6, "each measure has its interval")
        verdicts = [row["verdict"] for row in numbers(page, page.get_by_role("link", name="CSV"))]
        check(verdicts == [measure["verdict"] for measure in expected["rates"] + expected["quantiles"]], f"the verdicts: {verdicts}")
        user.picture("ask-compare", full=True)
        contrast(page, "/use-cases/login/compare")

        # Not as a page, since a browser complains of every answer with the status 400.
        response = page.request.get(f"{server.url}/use-cases/login/duration?from=requestSend")
        check(response.status == 400 and "did you mean “requestSent”?" in response.text(), "a mistake is one sentence")


def use_case_keyboard(browser, server, token):
    with Browser(browser, server, "use-case-keyboard", token=token) as user:
        page = user.open("/use-cases")
        page.keyboard.press("j")
        check(page.evaluate("document.activeElement === document.querySelector('.cases h2 a')"), "j goes to the first use case")
        page.keyboard.press("Enter")
        page.wait_for_url("**/use-cases/*")
        check(page.locator(".columns a[tabindex='-1']").count() > 0, "the columns are no stops")
        page.get_by_role("link", name="Funnel").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/funnel")
        page.locator("select[name=step]").first.focus()
        check(page.evaluate("document.activeElement.name") == "step", "the form is reached")
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        page.wait_for_url("**/use-cases")


def use_case_attack(browser, server, token):
    """Names that would break an address, a page or a file."""
    with Browser(browser, server, "use-case-hostile", token=token) as user:
        page = user.open("/use-cases?text=hostile", "use-cases-hostile", full=True)
        links = [link.get_attribute("href") for link in page.locator(".cases h2 a").all()]
        check(len(links) > 8, f"{len(links)} hostile use cases")
        for link in links:
            for view in ("", "/funnel", "/dropoff"):
                path, _, query = link.partition("?")
                user.open(f"/{path}{view}?outcome=failed")
                check(page.locator("script, img, iframe, base, style").count() == 1, f"{link}{view}: one script and nothing else")
                check(page.locator("section.answer").count() > 0, f"{link}{view}: an answer")


STEPS = [use_cases, ask, use_case_keyboard, use_case_attack]
PLACES = {
    "use-cases": "/use-cases", "use-case": "/use-cases/login", "duration": "/use-cases/login/duration", "funnel": "/use-cases/login/funnel",
    "dropoff": "/use-cases/login/dropoff", "legs": "/use-cases/login/legs", "compare": "/use-cases/login/compare?by=variant&a=A&b=B",
}
