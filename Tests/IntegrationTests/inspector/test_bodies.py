"""Bodies in the inspector, as the store of the device that recorded them has them: pictures, bytes, JSON, forms, and
what must not run."""
import json
import random
import re
import sqlite3
import struct
import uuid
import zlib

import pytest
import sets
from waybill import waybill

PAGE = """<!DOCTYPE html>
<html><head><title>Receipt</title><script>alert('a body ran')</script></head>
<body onload="alert('a body ran')"><img src=x onerror="alert('a body ran')"><p>Thank you for your order.</body></html>
"""
DRAWING = "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert('a body ran')</script></svg>"


def picture(width, height):
    """A PNG with a gradient."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def color(x, y):
        return bytes((40 + 180 * x // width, 90 + 100 * y // height, 200 - 120 * x // width))

    rows = b"".join(b"\0" + b"".join(color(x, y) for x in range(width)) for y in range(height))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def basket(count):
    items = [
        {"sku": f"A-{number}", "name": f"Shoe {number}", "price": {"amount": 1000 + number, "currency": "EUR"},
         "tags": ["red", "size \"42\""], "stock": number % 3 > 0} for number in range(count)]
    items[-1]["note"] = "the needle"
    return {"basket": {"id": "b-1", "owner": None, "items": items}, "hint": "needle", "total": 12.5}


class Device:
    """A store in one file, as an app keeps it, with bodies beside its exchanges."""

    def __init__(self):
        self.app, self.bodies, self.at = sets.Recorder(sets.APP, sets.now() - 60_000_000), [], 0
        self.transaction = sets.guid()
        self.app.open(0, self.transaction, 1)

    def exchange(
            self, path, response, kind, request=None, request_kind=None, method="GET", byte_count=None, omission=None,
            fields=(), **members):
        """Records one, and gives the address of its page."""
        self.at += 1_000_000
        opened, close = self.app.request(self.at, self.at + 140_000, path, method=method, fields=fields, **members)
        close()
        closed = self.app.facts[-1]
        closed["received_bytes"] = byte_count or len(response)
        closed["headers"] = [["Content-Type", kind], ["Server", "shop/2.8"]]
        self.bodies.append((opened, 1, kind, response, byte_count or len(response), omission))
        if request is not None:
            closed["sent_bytes"] = len(request)
            self.bodies.append((opened, 0, request_kind, request, len(request), None))
        return f"/network/{self.app.id}:{opened}"

    def write(self, folder):
        (folder / "set.json").write_text(json.dumps(self.app.set()))
        waybill("import", folder / "set.json", "--to", folder / "store")
        file = folder / "store/waybill.sqlite"
        store = sqlite3.connect(file)
        source, = store.execute("SELECT id FROM sources WHERE uuid = ?", (uuid.UUID(self.app.id).bytes,)).fetchone()
        store.executemany(
            """INSERT INTO bodies
            (source, exchange, direction, piece, content_type, kept_bytes, bytes, byte_count, omission)
            VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)""",
            [(source, exchange, direction, kind, len(body), zlib.compress(body), byte_count, omission)
             for exchange, direction, kind, body, byte_count, omission in self.bodies])
        store.commit()
        store.close()
        return file


BYTES = random.Random(8).randbytes(20_000)
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def device():
    return Device()


@pytest.fixture(scope="module")
def places(device):
    """The pages of exchanges, by what is in their bodies."""
    form = b"city=K%C3%B6ln+am+Rhein&street=&card=[redacted]"
    places = {
        "picture": device.exchange("/shoes/17.png", picture(320, 200), "image/png", host="cdn.example.com"),
        "binary": device.exchange("/model.bin", BYTES, "application/octet-stream", host="cdn.example.com"),
        "page": device.exchange("/receipt", PAGE.encode(), "text/html; charset=utf-8"),
        "drawing": device.exchange("/logo.svg", DRAWING.encode(), "image/svg+xml"),
        "json": device.exchange("/basket", json.dumps(basket(60)).encode(), "application/json"),
        "form": device.exchange(
            "/orders", b"{\"order\":\"A-17\",\"token\":\"[redacted]\"}", "application/json", form, FORM, method="POST",
            fields=[["Content-Type", FORM]]),
        "cut": device.exchange(
            "/log", b"one line of many\n" * 9_000, "text/plain", byte_count=2_400_000, omission="limit"),
        "redirects": device.exchange("/old/terms", b"{}", "application/json"),
    }
    at = device.at
    device.app.facts[-1] |= {
        "http_version": "2", "sent_at_us": at + 62_000, "first_byte_us": at + 120_000,
        "phases": {"lookup_us": 12_000, "connect_us": 18_000, "secure_us": 31_000},
        "redirects": [
            {"status": 301, "url": "https://api.example.com/terms?version=latest&from=old", "at_us": at + 70_000},
            {"status": 307, "url": "https://www.example.com/legal/terms", "at_us": at + 95_000}]}
    device.app.add(at + 900_000, "finished", outcome="succeeded")
    return places


@pytest.fixture(scope="module")
def site(device, places, serve, tmp_path_factory):
    return serve(device.write(tmp_path_factory.mktemp("device")))


@pytest.fixture
def user(visit, site):
    return visit(site)


def file_of(user, path):
    return user.context.request.get(user.url + path + "/response-body")


def test_a_picture_is_shown(user, places):
    page = user.open(places["picture"])
    image = page.locator("figure.image img")
    image.wait_for()
    assert page.evaluate("document.querySelector('figure.image img').decode().then(() => true, () => false)")
    assert image.evaluate("e => [e.naturalWidth, e.naturalHeight]") == [320, 200]
    headers = file_of(user, places["picture"]).headers
    assert headers["content-type"] == "image/png" and "sandbox" in headers["content-security-policy"]


def test_bytes_are_shown_as_such_and_can_be_taken_away(user, places):
    page = user.open(places["binary"], "body-binary", full=True)
    assert page.locator("pre.hex").inner_text().startswith("00000000  ")
    file = user.download(page.get_by_label("Response").get_by_role("link", name="Download"))
    assert file.path().read_bytes() == BYTES


@pytest.mark.parametrize("place", ["page", "drawing"])
def test_nothing_in_a_body_runs(place, user, places):
    page = user.open(places[place], f"body-{place}", full=True)
    assert "a body ran" in page.locator("article pre").first.inner_text(), "the source is shown"
    assert page.locator("script").count() == 1 and page.locator("article img, article svg[onload], iframe").count() == 0
    headers = file_of(user, places[place]).headers
    assert headers["content-type"] == "application/octet-stream", "the file is bytes"
    assert headers["content-disposition"].startswith("attachment"), "for the disk"


def test_words_are_found_in_folded_json(user, places):
    page = user.open(places["json"])
    page.locator(".json details > summary", has_text="\"items\"").click()
    assert page.locator(".json", has_text="the needle").get_by_text("the needle").first.is_hidden(), "a member folds"
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    output = page.locator(".within output")
    assert output.inner_text() == "2 found"
    page.keyboard.press("Enter")
    assert output.inner_text() == "1 of 2"
    assert page.get_by_text("the needle").first.is_visible(), "what hides it is unfolded"
    marked = "['found', 'found-here'].map(name => CSS.highlights.get(name).size)"
    assert page.evaluate(marked) == [2, 1], "both are marked"
    top = page.evaluate("[...CSS.highlights.get('found-here')][0].getBoundingClientRect().top")
    assert 0 < top < 900, "it is in the window"
    user.picture("body-find")
    for key, place in [("Enter", "2 of 2"), ("Enter", "1 of 2"), ("Shift+Enter", "2 of 2")]:
        page.keyboard.press(key)
        assert output.inner_text() == place
    page.keyboard.press("Control+a")
    page.keyboard.type("\"price\": {")
    assert output.inner_text() == "60 found", "a name and its value are one line"
    page.keyboard.type("(")
    assert output.inner_text() == "Not found", "a bracket is a bracket"


def test_a_form_is_a_table_and_what_is_shown_is_copied(user, places):
    page = user.open(places["form"])
    assert page.locator("#request-body-side").is_visible()
    assert page.get_by_role("row", name="city Köln am Rhein").count() == 1
    page.get_by_role("button", name="Copy as cURL").click()
    assert user.copied().startswith("curl 'https://api.example.com/orders'")
    page.get_by_label("Response").get_by_role("button", name="Copy").first.click()
    assert user.copied() == "Content-Type: application/json\nServer: shop/2.8", "header fields are copied as lines"


def test_a_request_leads_to_its_transaction_and_back(user, places):
    page = user.open(places["json"])
    page.get_by_role("link", name="In: ").click()
    page.wait_for_url("**/transactions/*#x*")
    row = page.locator("li:target > details")
    if row.get_attribute("open") is None:
        row.locator("summary").click()
    row.get_by_role("link", name="On its own page").click()
    page.wait_for_url("**" + places["json"])


def test_requests_are_found_by_words_in_bodies_and_by_terms(user):
    page = user.open("/network")
    rows = page.locator(".rows li")
    assert rows.count() == 8
    page.keyboard.press("/")
    page.keyboard.type("the needle")
    page.keyboard.press("Enter")
    page.wait_for_url("**filter=**")
    assert rows.count() == 1, "words are found in bodies"
    user.open("/network")
    page.get_by_role("link", name="size>100kB").click()
    page.wait_for_url("**filter=size**")
    assert 0 < rows.count() < 8, "a term is switched on"
    page.get_by_role("link", name=re.compile("^host:(cdn|api).example.com")).first.click()
    assert "size" in page.url and "host" in page.url, "another holds besides"
    user.picture("network-terms")
    answer = user.context.request.get(user.url + "/network?filter=state:faild")
    assert answer.status == 400 and "did you mean" in answer.text(), "a mistake is told"


def test_redirects_phases_and_what_is_missing_are_told(user, places):
    page = user.open(places["redirects"])
    assert page.locator(".redirects li").count() == 3 and page.locator(".phases-table tr").count() == 6
    assert "of 2.4 MB were kept" in user.open(places["cut"]).locator("article").inner_text()


def test_every_body_reads(user, places):
    for path in places.values():
        user.open(path)
        user.assert_readable()


@pytest.mark.parametrize(
    "width, scheme, script",
    [(1280, "light", True), (1280, "dark", True), (360, "light", True), (360, "dark", False), (2560, "light", True)])
def test_bodies_fit_every_window(width, scheme, script, visit, site, places):
    user = visit(site, width, scheme, script)
    for place in ("json", "form", "redirects", "picture"):
        user.open(places[place], f"body-{place}", full=width == 1280)
    user.open("/network", "device-network")


def test_a_request_can_be_printed(user, places):
    user.page.emulate_media(media="print")
    user.open(places["form"], "body-print", full=True)
