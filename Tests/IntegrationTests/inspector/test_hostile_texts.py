"""Texts that were recorded to break the pages are shown, and do nothing: in sets, and as the client records them."""
import re

import pytest
import sets
from waybill import PRODUCTS, execute

TEXTS = 21
# Besides the one script, nothing that a text could have brought in may be in a page, and no link leads elsewhere.
BROUGHT_IN = """Array.from(document.querySelectorAll('*')).flatMap(e => e.getAttributeNames()
    .filter(n => n.startsWith('on') || ['style', 'srcset', 'srcdoc', 'autofocus'].includes(n))
    .map(n => e.localName + ' ' + n))
    .concat(Array.from(document.querySelectorAll(
        'script:not([src*="assets/"]), style, img, iframe, object, embed, base, main link'), e => e.localName))
    .concat(Array.from(document.querySelectorAll('a[href]'), a => a.href)
    .filter(h => !h.startsWith(location.origin + '/')))"""


def addresses(user, path, picture):
    return [link.get_attribute("href") for link in user.open(path, picture).locator(".rows a").all()]


def unfolded(user, path):
    """The text of a page with all that it folds, in which nothing of what was recorded does anything."""
    page = user.open("/" + path)
    user.unfold()
    assert page.evaluate(BROUGHT_IN) == [], path
    assert page.locator("script").count() == 1, path
    return page.locator("main").inner_text()


def test_texts_in_sets_do_nothing(visit, inspector):
    user = visit(inspector)
    found = addresses(user, "/transactions?text=hostile", "hostile")
    assert len(found) == len(sets.HOSTILE)
    seen = user.page.locator("main").inner_text()
    for address in found:
        seen += unfolded(user, address)
        assert user.page.locator("details summary").first.count() == 1, "the request is there"
    user.open("/network?text=hostile", "hostile-network")
    seen += user.page.locator("main").inner_text()
    assert [number for number in range(len(sets.HOSTILE)) if f"hostile-{number}" not in seen] == []
    assert "<script>alert('hostile-0')</script>" in seen, "markup is shown as it was written"


@pytest.fixture(scope="module", params=["by the collector", "from the file"])
def site(request, delivered, serve):
    collector, file = delivered
    return collector if request.param == "by the collector" else serve(file)


@pytest.fixture(scope="module")
def delivered(serve, tmp_path_factory):
    """Recorded with the library into a store, and delivered to a collector."""
    folder = tmp_path_factory.mktemp("hostile")
    collector = serve(folder / "collected", roles=["ingest", "read"])
    execute(
        PRODUCTS / "TestProcess", "hostile", folder / "recorded", WAYBILL_COLLECTOR=collector.url,
        WAYBILL_TOKEN=collector.tokens["ingest"])
    return collector, folder / "recorded/waybill.sqlite"


@pytest.mark.parametrize("kind", ["transactions", "network"])
def test_texts_that_the_client_recorded_do_nothing(kind, visit, site):
    user = visit(site)
    found = addresses(user, f"/{kind}?limit=100", f"hostile-{kind}")
    assert len(found) == TEXTS
    if kind == "transactions":
        shown = user.page.locator("main").inner_text()
        assert "<script>alert('hostile-0')</script>" in shown, "a use case is called as it was written"
    seen = [unfolded(user, address) for address in found]
    for number in range(TEXTS):
        # As an attribute, an event's name and an error; in the request's URL, header fields and bodies.
        assert max(len(re.findall(rf"hostile-{number}(?!\d)", text)) for text in seen) >= 2, f"hostile-{number}"
