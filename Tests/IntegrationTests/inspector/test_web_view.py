"""A list in a web view of an app, where the app tells it what changes: `Sources/WaybillUI` has what stands in for `EventSource` there."""
import sets
from waybill import ROOT

STAND_IN = (ROOT / "Sources/WaybillUI/Assets/event-source.js").read_text()
APP = "window.posted = []; window.webkit = {messageHandlers: {events: {postMessage: text => posted.push(text)}}};"
HIDE = """value => { Object.defineProperty(document, 'hidden', {value, configurable: true});
    document.dispatchEvent(new Event('visibilitychange')); }"""


def test_a_list_follows_what_the_app_tells_it(visit, inspector):
    user, asked = visit(inspector), []
    user.page.add_init_script(APP + STAND_IN)
    user.page.on("request", lambda request: asked.append(request.url))
    page = user.open("/transactions")
    followed = page.evaluate("posted")
    assert len(followed) == 1 and followed[0].startswith(f"{inspector.url}/live?version="), "the app is told which stream"
    assert page.locator(".live").get_attribute("data-state") != "live", "nothing has been told yet"
    page.evaluate("EventSource.tell('open')")
    page.locator(".live[data-state=live]").wait_for()

    app, back = (sets.Recorder(about, sets.now()) for about in (sets.APP, sets.SERVER))
    transaction = sets.login(app, back, 1000, False)
    inspector.post(app.set(), back.set())
    assert page.locator(f"#t-{transaction}").count() == 0, "the page asks for no stream of its own"
    page.evaluate("EventSource.tell('changed')")
    page.locator(f"#t-{transaction}").wait_for()
    page.evaluate("EventSource.tell('error')")
    page.locator(".live[data-state=offline]").wait_for()

    page.evaluate(HIDE, True)
    assert page.evaluate("posted.slice(1)") == [""], "a hidden page follows nothing"
    page.evaluate("EventSource.tell('changed')")
    page.evaluate(HIDE, False)
    assert page.evaluate("posted.slice(2)") == [followed[0]], "and does again when it is seen"
    assert not [url for url in asked if "/live" in url]
