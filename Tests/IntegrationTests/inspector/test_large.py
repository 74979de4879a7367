"""Transactions of 300 requests and of 400 events, as people look for what went wrong in them."""
from itertools import product

import pytest


@pytest.fixture(scope="module")
def server(serve, sample_store):
    return serve(sample_store / "sample.sqlite")


@pytest.fixture(scope="module")
def large(sample_store):
    """`large["300 requests"]`: the path of its page."""
    lines = (sample_store / "printed.txt").read_text().splitlines()
    return {name: f"/transactions/{id}" for name, id in (line.split(": ") for line in lines)}


def size(page):
    box = page.locator("html").bounding_box()
    return box["width"], page.locator("body").bounding_box()["height"]


@pytest.mark.parametrize("name", ["300 requests", "400 events"])
@pytest.mark.parametrize("width, scheme, script", [*product([390, 1280], ["light", "dark"], [True]), (390, "light", False)])
def test_a_large_transaction_fits_its_window(name, width, scheme, script, visit, server, large):
    """Broken, it is thousands of pixels wide, and 26,000 tall."""
    user = visit(server, width, scheme, script)
    page = user.open(large[name], name.replace(" ", "-"))
    user.picture(f"{name.replace(' ', '-')}-whole", full=True)
    window = page.viewport_size["height"]
    shown, height = size(page)
    print(f"{name} at {width}: {shown:.0f} by {height:.0f}")
    assert shown <= width and height <= 12 * window
    assert user.fits(), "nothing has to be scrolled sideways"
    first = page.locator(".bars li").first.bounding_box()
    assert first["y"] < window, "the rows begin on the first screen"
    assert page.locator(".bars li").count() <= 1000, "a page has a bound"
    user.assert_readable()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_it(scheme, visit, server, large):
    user = visit(server, scheme=scheme)
    for path in large.values():
        user.open(path)
        user.assert_accessible()
        user.unfold("main details")
        user.assert_accessible()
        assert user.fits(), "unfolded, it fits the window"


def test_the_axis_stays_in_view(visit, server, large):
    user = visit(server)
    page = user.open(large["300 requests"])
    page.mouse.wheel(0, 1500)
    user.wait("scrollY > 500")
    box = page.locator(".axis").bounding_box()
    assert 0 <= box["y"] < 5, "it sticks to the top"


@pytest.mark.parametrize("script", [True, False])
def test_links_lead_from_error_to_error_over_pages(script, visit, server, large):
    user = visit(server, script=script)
    page = user.open(large["300 requests"])
    page.get_by_role("link", name="First of 4 errors").click()
    statuses = []
    for number in range(4):
        row = page.locator("li:target")
        row.wait_for()
        statuses.append(row.locator("summary b").first.inner_text()[:3])
        if script:
            assert row.evaluate("row => row.contains(document.activeElement)"), "the keyboard goes on from there"
        else:
            row.locator("summary").first.click()
        if number == 3:
            break
        before = page.url
        if script:
            page.keyboard.press("n")
        else:
            row.get_by_role("link", name="Next error").click()
        page.wait_for_url(lambda url: url != before)
    assert statuses == ["404", "500", "500", "404"]


def test_the_keyboard_moves_from_row_to_row_and_unfolds(visit, server, large):
    user = visit(server, 390)
    page = user.open(large["300 requests"])
    for _ in range(3):
        page.keyboard.press("j")
    row = page.locator("li:has(> details > summary:focus)")
    assert row.count() == 1
    page.keyboard.press("Enter")
    assert row.locator("> details[open]").count() == 1
    assert user.fits()
    user.picture("300-requests-unfolded")


@pytest.mark.parametrize("script", [True, False])
def test_a_span_and_a_text_are_looked_at_alone(script, visit, server, large):
    user = visit(server, script=script)
    page = user.open(large["300 requests"])
    if script:
        box = page.locator(".overview").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 12)
        page.mouse.up()
    else:
        page.locator("input[name=from]").fill("5000")
        page.locator("input[name=to]").fill("9000.5")
        page.get_by_role("button", name="Show").click()
    page.wait_for_url("**from=**to=**")
    assert page.locator(".overview .shown").count() == 1, "what is shown is marked"
    user.picture("zoomed")
    page.get_by_label("Search in rows").fill("tags")
    page.keyboard.press("Enter")
    page.wait_for_url("**find=tags**")
    titles = [each.get_attribute("title") for each in page.locator(".bars li.x:not(.r) span[title]").all()]
    assert titles and all("/tags/" in title for title in titles)
    page.get_by_role("link", name="Whole transaction").click()
    page.wait_for_url(lambda url: "from=" not in url)


def test_a_report_of_it_draws_rows_when_it_opens(visit, server, large, tmp_path):
    user = visit(server)
    page = user.open(large["300 requests"])
    report = tmp_path / "report.html"
    report.write_bytes(open(user.download(page.get_by_role("link", name="HTML")).path(), "rb").read())
    for script in (True, False):
        reader = visit(tmp_path.as_uri(), 390, script=script)
        opened = reader.open("/report.html")
        assert not script or opened.locator(".bars li").count() == 0, "with script, nothing is drawn yet"
        opened.locator("details.t > summary").click()
        opened.locator(".bars li").first.wait_for()
        assert opened.locator(".bars li.x:not(.r)").count() == 300, "every request is in it"
        assert reader.fits()
