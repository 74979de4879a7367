"""The controls of an app, on a page of its inspector: every button is pressed in Chromium, and what it does is seen in a
request that the app then sends."""
import http.client
import json
import urllib.parse

import pytest
from waybill import PRODUCTS, TIMEOUT, Service

SECRETS = ["app-hunter22sunny", "cookie-hunter22sunny", "token-hunter22sunny"]


class App(Service):
    def __init__(self, folder, *options):
        super().__init__(PRODUCTS / "InspectedApp", folder, *options)

    def ask(self, method, path, **fields):
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT)
        connection.request(method, path, urllib.parse.urlencode(fields) if method == "POST" else None)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body

    def send(self, path="/orders", **items):
        """What the app sees of a request that it sends."""
        status, body = self.ask("POST", "/app/request?" + urllib.parse.urlencode({"path": path, **items}))
        assert status == 200, body
        return json.loads(body)

    def rules(self):
        return json.loads(self.ask("GET", "/app/rules")[1])["rules"]

    def change(self, change):
        assert self.ask("POST", "/controls", change=change)[0] == 303

    def recorded(self):
        """How many transactions there are, on one page of the list."""
        return self.ask("GET", "/transactions")[1].count('<li id="t-')


def told_of_refusals(user):
    """A browser's console tells of a page whose status is not 200; nothing else was wrong."""
    assert user.complaints and all("status of 400" in complaint for complaint in user.complaints)
    user.complaints.clear()


@pytest.fixture
def app(tmp_path):
    with App(tmp_path / "store") as app:
        yield app


def press(page, name, rule=None):
    """Presses a button, each of which leads to a page."""
    with page.expect_navigation():
        page.get_by_role("button", name=f"{name} “{rule}”" if rule else name, exact=True).click()


def editor(page):
    return page.get_by_label("Rule as JSON")


def shown(page):
    """The rule in the editor."""
    return json.loads(editor(page).input_value())


def write(page, rule):
    """Writes a rule, or any text, into the editor, and saves it."""
    editor(page).fill(rule if isinstance(rule, str) else json.dumps(rule, indent=2, ensure_ascii=False))
    press(page, "Save")


def add(page, name, start="Answer it", **members):
    """Adds a rule: begins with a template, and gives members other values."""
    page.get_by_role("link", name="Add a rule").click()
    page.get_by_role("heading", level=1, name="New rule").wait_for()
    page.get_by_role("link", name=start, exact=True).click()
    page.wait_for_url("**?template=*")
    write(page, shown(page) | {"name": name} | members)


def edit(page, name):
    page.get_by_role("link", name=f"Edit “{name}”").click()
    page.get_by_role("heading", level=1, name="Edit a rule").wait_for()


def names(page):
    return page.locator("ol.rules h3").all_text_contents()


@pytest.mark.parametrize("script", [True, False])
def test_recording_is_switched_off_and_on(script, app, visit):
    page = visit(app, script=script).open("/controls")
    assert page.get_by_role("link", name="Controls").get_attribute("aria-current") == "page"
    app.send()
    assert app.recorded() == 1
    press(page, "Turn recording off")
    page.get_by_text("Recording is off.").wait_for()
    assert app.send()["status"] == 200, "requests are sent as ever"
    assert app.recorded() == 1
    press(page, "Turn recording on")
    page.get_by_text("Recording is on.").wait_for()
    app.send()
    assert app.recorded() == 2


def test_what_is_off_is_remembered_where_the_app_asks_for_it(tmp_path, visit):
    with App(tmp_path / "store", "--remember") as app:
        page = visit(app).open("/controls")
        assert page.get_by_text("remembered for later launches. Turned off, it erases").count() == 1
        app.send()
        press(page, "Turn recording off")
        page.get_by_text("Recording is off.").wait_for()
    with App(tmp_path / "store", "--remember") as app:
        user = visit(app)
        page = user.open("/controls")
        assert page.get_by_text("Recording is off.").count() == 1
        app.send()
        assert app.recorded() == 0
        press(page, "Turn recording on")
        page.get_by_text("Recording is on.").wait_for()
        app.send()
        assert app.recorded() == 1


@pytest.mark.parametrize("script", [True, False])
def test_a_rule_is_added_turned_off_edited_and_removed(script, app, visit):
    user = visit(app, script=script)
    page = user.open("/controls")
    assert app.send()["body"].startswith("GET from the server")
    answer = {"status": 503, "headers": [["Content-Type", "application/json"]], "text": '{"error":"maintenance"}'}
    add(page, "orders are down", match={"path": "/orders"}, mock=answer)
    assert page.get_by_role("heading", level=1, name="Controls").count() == 1
    assert app.send()["status"] == 200, "rules are off"
    press(page, "Turn rules on")
    assert app.send() | {"seconds": 0} == {"status": 503, "body": '{"error":"maintenance"}', "seconds": 0}
    assert app.send("/other")["status"] == 200
    page.reload()
    assert page.get_by_text("Has acted on 1 request.").count() == 1

    press(page, "Disable", "orders are down")
    assert app.send()["status"] == 200
    press(page, "Enable", "orders are down")
    assert app.send()["status"] == 503

    edit(page, "orders are down")
    assert shown(page) == {"name": "orders are down", "match": {"path": "/orders"}, "mock": answer}
    write(page, {"name": "orders are empty", "match": {"path": "/orders"}, "mock": {"text": "[]", "delay_us": 200_000}})
    assert names(page) == ["orders are empty", "from the app"]
    outcome = app.send()
    assert (outcome["status"], outcome["body"]) == (200, "[]") and outcome["seconds"] >= 0.2

    press(page, "Turn rules off")
    assert app.send()["body"].startswith("GET from the server")
    press(page, "Turn rules on")
    # It is asked for twice: one press shows the button, another takes it back.
    question = page.get_by_label("Remove “orders are empty”", exact=True)
    sure = page.get_by_role("button", name="Remove it for good “orders are empty”", exact=True)
    assert not sure.is_visible()
    question.click()
    assert sure.is_visible()
    question.click()
    assert not sure.is_visible() and names(page) == ["orders are empty", "from the app"]
    question.click()
    press(page, "Remove it for good", "orders are empty")
    assert names(page) == ["from the app"]
    assert app.send()["body"].startswith("GET from the server")


def test_every_kind_of_rule_does_what_it_says(app, visit):
    page = visit(app).open("/controls")
    press(page, "Turn rules on")
    add(page, "fails", "Fail it", match={"path": "/fail"}, fail={"code": "notConnectedToInternet", "delay_us": 100_000})
    outcome = app.send("/fail")
    assert outcome["error"] == -1009 and outcome["seconds"] >= 0.1
    add(page, "slow", "Slow it down", match={"path": "/slow"},
        throttle={"latency_us": 300_000, "bytes_per_second": 100_000})
    outcome = app.send("/slow")
    assert outcome["status"] == 200 and outcome["seconds"] >= 0.3
    add(page, "cut", "Cut the answer", match={"path": "/cut"}, cut={"after_bytes": 100})
    assert app.send("/cut")["error"] == -1005
    add(page, "once", match={"path": "/once"}, times=1, mock={"status": 429})
    assert [app.send("/once")["status"] for _ in range(2)] == [429, 200]
    page.reload()
    assert page.get_by_text("Has acted on 1 request, all that it is for.").count() == 1
    texts = page.locator("ol.rules li > p:first-of-type").all_text_contents()
    assert texts[:4] == [
        "Requests whose path is “/once” are answered with 429.",
        "Requests whose path is “/cut” lose their connection after 100 bytes of the answer.",
        "Requests whose path is “/slow” are slowed down: they wait 300ms, at 100000 bytes a second.",
        "Requests whose path is “/fail” fail with notConnectedToInternet after 100ms."]


def test_every_condition_decides_which_requests_are_meant(app, visit):
    page = visit(app).open("/controls")
    press(page, "Turn rules on")
    add(page, "meant", mock={"status": 418}, match={
        "method": "post", "host": {"glob": "127.0.0.*"}, "path": {"regex": "^/v[12]/"}, "url": {"contains": "?PAGE=1"},
        "headers": {"Authorization": {"contains": "Bearer a"}}})
    assert app.send("/v1/x?page=1", method="POST", token="abc")["status"] == 200, "capital letters"
    edit(page, "meant")
    rule = shown(page)
    rule["match"]["url"]["ignores_case"] = True
    write(page, rule)
    assert app.send("/v1/x?page=1", method="POST", token="abc")["status"] == 418
    for path, items in [
            ("/v1/x?page=1", {"method": "GET", "token": "abc"}), ("/v3/x?page=1", {"method": "POST", "token": "abc"}),
            ("/v1/x?page=2", {"method": "POST", "token": "abc"}), ("/v1/x?page=1", {"method": "POST", "token": "b"}),
            ("/v1/x?page=1", {"method": "POST"})]:
        assert app.send(path, **items)["status"] == 200, (path, items)


def test_the_first_rule_acts_and_the_order_can_be_changed(app, visit):
    page = visit(app).open("/controls")
    press(page, "Turn rules on")
    for status in ("501", "502", "503"):
        add(page, f"answer {status}", match={}, mock={"status": int(status)})
    assert names(page) == ["answer 503", "answer 502", "answer 501", "from the app"]
    assert app.send()["status"] == 503
    assert page.get_by_role("button", name="Up “answer 503”").count() == 0
    assert page.get_by_role("button", name="Down “from the app”").count() == 0
    press(page, "Up", "answer 502")
    assert names(page)[:2] == ["answer 502", "answer 503"]
    assert app.send()["status"] == 502
    press(page, "Down", "answer 502")
    assert app.send()["status"] == 503


def test_a_rule_of_the_app_keeps_its_secrets_and_no_page_shows_them(app, visit):
    user = visit(app)
    page = user.open("/controls")
    press(page, "Turn rules on")
    before = app.rules()
    assert all(secret in json.dumps(before) for secret in SECRETS), "there is something to hide"
    assert app.send("/account", token="app-hunter22sunny")["body"].count("token-hunter22sunny") == 1
    for _ in range(2):
        edit(page, "from the app")
        assert not any(secret in page.content() for secret in SECRETS)
        assert shown(page)["match"]["headers"] == {"Authorization": "[redacted]"}
        press(page, "Save")
        assert app.rules() == before
    edit(page, "from the app")
    rule = shown(page)
    rule["mock"] |= {"status": 201, "headers": rule["mock"]["headers"] + [["X-New", "1"]]}
    write(page, rule)
    assert app.rules()[0]["mock"] == before[0]["mock"] | {
        "status": 201, "headers": before[0]["mock"]["headers"] + [["X-New", "1"]]}

    edit(page, "from the app")
    rule = shown(page)
    rule["mock"]["text"] = rule["mock"]["text"].replace("Ada", "Eve")
    write(page, rule)
    assert "/mock/text: write in full what [redacted] stands for" in page.get_by_role("alert").inner_text()
    assert not any(secret in page.content() for secret in SECRETS)
    told_of_refusals(user)
    rule["mock"]["text"] = '{"name":"Eve"}'
    write(page, rule)
    assert app.rules()[0]["mock"]["text"] == '{"name":"Eve"}'


def test_a_mistake_is_told_where_it_is_and_what_was_typed_stays(app, visit):
    user = visit(app, 390)
    page = user.open("/controls")
    typed = """
        {"name": "broken", "match": {"path": {"regex": "("}},
         "mock": {"status": 503, "text": "<b>\\n\\"kept\\""}"""
    add(page, "broken", match={"path": {"regex": "("}})
    assert page.get_by_role("alert").inner_text() == "The rule was not saved. " \
        "/match/path/regex: a regular expression of at most 2048 characters was expected."
    assert page.evaluate("document.activeElement.name") == "rule"
    assert shown(page)["match"] == {"path": {"regex": "("}}
    user.picture("controls-mistake", full=True)
    user.assert_accessible()
    told_of_refusals(user)
    write(page, typed)
    assert page.get_by_role("alert").inner_text() == \
        f"The rule was not saved. Line 3, column {len(typed.splitlines()[2]) + 1}: a comma was expected."
    assert editor(page).input_value() == typed
    told_of_refusals(user)
    write(page, typed.replace('"("', '"^/x$"') + "}")
    assert names(page) == ["broken", "from the app"]
    assert app.rules()[0]["mock"]["text"] == "<b>\n\"kept\""


def test_it_is_all_done_by_keyboard(app, visit):
    user = visit(app)
    page = user.open("/controls")

    def go(name):
        """To the next thing of that name, and press it."""
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(
                    "() => { const e = document.activeElement; return e.getAttribute('aria-label') || e.textContent.trim() }"
            ) == name:
                return page.keyboard.press("Enter")
        raise AssertionError(f"“{name}” is reached by the keyboard")

    go("Turn rules on")
    page.get_by_text("Rules are on.").wait_for()
    go("Add a rule")
    page.get_by_role("heading", name="New rule").wait_for()
    editor(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type('{"name": "typed", "mock": {"status": 410}}')
    go("Save")
    page.get_by_role("heading", name="typed").wait_for()
    assert app.send()["status"] == 410
    # It goes on where the rule is.
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Disable “typed”"
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Enable “typed”").wait_for()
    assert app.send()["status"] == 200
    go("Edit “typed”")
    page.get_by_role("heading", name="Edit a rule").wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1, name="Controls").wait_for()
    go("Remove “typed”")
    page.get_by_role("button", name="Remove it for good “typed”", exact=True).wait_for()
    go("Remove it for good “typed”")
    page.get_by_role("heading", name="typed").wait_for(state="detached")
    assert len(app.rules()) == 1


@pytest.mark.parametrize("width, scheme, script", [
    (1280, "light", True), (1280, "dark", True), (390, "light", True), (390, "dark", True), (390, "light", False),
    (360, "light", True), (2560, "light", True)])
def test_the_pages_fit_and_can_be_read(width, scheme, script, app, visit):
    user = visit(app, width, scheme, script)
    page = user.open("/controls")
    press(page, "Turn rules on")
    add(page, "a rule with a rather long name, as testers write them when they are in no hurry", times=3,
        match={"host": "api.example.com", "path": {"glob": "/v1/orders/*"}},
        mock={"status": 503, "delay_us": 250_000, "longest_delay_us": 2_000_000,
              "headers": [["Content-Type", "application/json"]], "text": '{"error":"maintenance"}'})
    add(page, "no network", "Fail it")
    press(page, "Disable", "no network")
    for name in ("controls", "controls/rule", None):
        if name:
            user.open(f"/{name}", name.replace("/", "-"), full=True)
        else:
            page.goto(f"{app.url}/controls")
            edit(page, "from the app")
            user.picture("controls-edit", full=True)
        user.assert_readable()
        if script:
            assert user.fits(), page.url
            assert user.assert_accessible() > 15
    user.open("/controls/rule")
    for action, member in (("Fail it", "fail"), ("Slow it down", "throttle"), ("Cut the answer", "cut"),
                           ("Answer it", "mock")):
        page.get_by_role("link", name=action, exact=True).click()
        page.wait_for_url(f"**?template={member}")
        assert shown(page).keys() == {"name", "match", member}, f"{action}: the template does one thing"
        user.picture(f"controls-{member}", full=True)


def test_nothing_but_its_own_pages_changes_anything(app, visit, tmp_path):
    body = urllib.parse.urlencode({"change": "stop-recording"})
    for fields in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        connection = http.client.HTTPConnection(app.address, timeout=TIMEOUT)
        connection.request("POST", "/controls", body, fields)
        assert connection.getresponse().status == 403, fields
        connection.close()
    status, page = app.ask("POST", "/controls", change="explode")
    assert status == 400 and "There is no change “explode”" in page
    assert app.ask("POST", "/controls/rule", rule="x" * (2 << 20))[0] == 413
    app.send()
    assert app.recorded() == 1
    assert len(app.rules()) == 1
