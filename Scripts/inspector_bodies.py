"""Bodies in the inspector, as the store of the device that recorded them has them: pictures, bytes, JSON, forms, and what must not run."""
import json
import random
import sqlite3
import struct
import subprocess
import time
import uuid
import zlib

import inspector_sets as sets
from inspector_browser import FOLDER, WAYBILL, Browser, Server, check, contrast

PAGE = """<!DOCTYPE html>
<html><head><title>Receipt</title><script>alert('a body ran')</script></head>
<body onload="alert('a body ran')"><img src=x onerror="alert('a body ran')"><p>Thank you for your order.</body></html>
"""
DRAWING = "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert('a body ran')</script></svg>"


def picture(width, height):
    """A PNG with a gradient."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(
        b"\0" + b"".join(bytes((40 + 180 * x // width, 90 + 100 * y // height, 200 - 120 * x // width)) for x in range(width)) for y in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def basket(count):
    items = [
        {"sku": f"A-{number}", "name": f"Shoe {number}", "price": {"amount": 1000 + number, "currency": "EUR"}, "tags": ["red", "size \"42\""], "stock": number % 3 > 0}
        for number in range(count)
    ]
    items[-1]["note"] = "the needle"
    return {"basket": {"id": "b-1", "owner": None, "items": items}, "hint": "needle", "total": 12.5}


class Device:
    """A store in one file, as an app keeps it, with bodies beside its exchanges."""

    def __init__(self):
        self.app, self.bodies, self.at = sets.Recorder(sets.APP, int(time.time() * 1_000_000) - 60_000_000), [], 0
        self.transaction = sets.guid()
        self.app.open(0, self.transaction, 1)

    def exchange(self, path, response, kind, request=None, request_kind=None, method="GET", byte_count=None, omission=None, fields=(), **members):
        """Records one, and gives the address of its page."""
        self.at += 1_000_000
        opened, close = self.app.request(self.at, self.at + 140_000, path, method=method, fields=fields, **members)
        close()
        closed = self.app.facts[-1]
        closed["received_bytes"], closed["headers"] = byte_count or len(response), [["Content-Type", kind], ["Server", "shop/2.8"]]
        self.bodies.append((opened, 1, kind, response, byte_count or len(response), omission))
        if request is not None:
            closed["sent_bytes"] = len(request)
            self.bodies.append((opened, 0, request_kind, request, len(request), None))
        return f"/network/{self.app.id}:{opened}"

    def write(self, folder):
        folder.mkdir(parents=True)
        (folder / "set.json").write_bytes(sets.encoded(self.app.set()))
        subprocess.run([WAYBILL, "import", folder / "set.json", "--to", folder / "store"], check=True, capture_output=True)
        file = folder / "store" / "waybill.sqlite"
        store = sqlite3.connect(file)
        source, = store.execute("SELECT id FROM sources WHERE uuid = ?", (uuid.UUID(self.app.id).bytes,)).fetchone()
        for exchange, direction, kind, body, byte_count, omission in self.bodies:
            store.execute(
                "INSERT INTO bodies(source, exchange, direction, piece, content_type, kept_bytes, bytes, byte_count, omission) VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)",
                (source, exchange, direction, kind, len(body), zlib.compress(body), byte_count, omission))
        store.commit()
        store.close()
        return file


def pictures_and_bytes(user, places, random_bytes):
    page = user.open(places["picture"], "body-picture", full=True)
    image = page.locator("figure.image img")
    image.wait_for()
    check(page.evaluate("document.querySelector('figure.image img').decode().then(() => true, () => false)"), "the picture can be shown")
    check(image.evaluate("e => [e.naturalWidth, e.naturalHeight]") == [320, 200], "the picture has its size")
    answer = user.context.request.get(user.url + places["picture"] + "/response-body")
    check(answer.headers["content-type"] == "image/png" and "sandbox" in answer.headers["content-security-policy"], f"the picture's answer: {answer.headers}")
    page = user.open(places["binary"], "body-binary", full=True)
    check(page.locator("pre.hex").inner_text().startswith("00000000  "), "bytes are shown as such")
    with page.expect_download() as waiting:
        page.get_by_label("Response").get_by_role("link", name="Download").click()
    check(waiting.value.path().read_bytes() == random_bytes, "what was kept can be taken away")


def nothing_runs(user, places):
    for place in ("page", "drawing"):
        page = user.open(places[place], f"body-{place}", full=True)
        check("a body ran" in page.locator("article pre").first.inner_text(), f"{place}: the source is shown")
        check(page.locator("script").count() == 1 and page.locator("article img, article svg[onload], iframe").count() == 0, f"{place}: and is text")
        answer = user.context.request.get(user.url + places[place] + "/response-body")
        check(answer.headers["content-type"] == "application/octet-stream", f"{place}: the file is bytes")
        check(answer.headers["content-disposition"].startswith("attachment"), f"{place}: for the disk")


def find(user, places):
    page = user.open(places["json"])
    page.locator(".json details > summary", has_text="\"items\"").click()
    check(page.locator(".json", has_text="the needle").get_by_text("the needle").first.is_hidden(), "a member folds")
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    output = page.locator(".within output")
    check(output.inner_text() == "2 found", f"both are counted: {output.inner_text()}")
    page.keyboard.press("Enter")
    check(output.inner_text() == "1 of 2", f"the first: {output.inner_text()}")
    check(page.get_by_text("the needle").first.is_visible(), "what hides it is unfolded")
    check(page.evaluate("CSS.highlights.get('found').size === 2 && CSS.highlights.get('found-here').size === 1"), "both are marked")
    top = page.evaluate("[...CSS.highlights.get('found-here')][0].getBoundingClientRect().top")
    check(0 < top < 900, f"it is in the window: {top}")
    user.picture("body-find")
    page.keyboard.press("Enter")
    check(output.inner_text() == "2 of 2", "the next")
    page.keyboard.press("Enter")
    check(output.inner_text() == "1 of 2", "and round")
    page.keyboard.press("Shift+Enter")
    check(output.inner_text() == "2 of 2", "and back")
    page.keyboard.press("Control+a")
    page.keyboard.type("\"price\": {")
    check(output.inner_text() == "60 found", f"a name and its value are one line: {output.inner_text()}")
    page.keyboard.type("(")
    check(output.inner_text() == "Not found", "a bracket is a bracket")


def copy(user, places):
    page = user.open(places["form"], "body-form", full=True)
    check(page.locator("#request-body-side").is_visible() and page.get_by_role("row", name="city Köln am Rhein").count() == 1, "a form is a table")
    page.get_by_role("button", name="Copy as cURL").click()
    check(page.evaluate("navigator.clipboard.readText()").startswith("curl 'https://api.example.com/orders'"), "copied as cURL")
    page.get_by_label("Response").get_by_role("button", name="Copy").first.click()
    check(page.evaluate("navigator.clipboard.readText()") == "Content-Type: application/json\nServer: shop/2.8", "header fields are copied as lines")


def there_and_back(user, places):
    page = user.open(places["json"])
    page.get_by_role("link", name="In: ").click()
    page.wait_for_url("**/transactions/*#x*")
    page.locator("details:target").get_by_role("link", name="On its own page").click()
    page.wait_for_url("**" + places["json"])


def search(user):
    page = user.open("/network")
    rows = page.locator(".rows li")
    check(rows.count() == 8, f"{rows.count()} requests")
    page.keyboard.press("/")
    page.keyboard.type("the needle")
    page.keyboard.press("Enter")
    page.wait_for_url("**filter=**")
    check(rows.count() == 1, "words are found in bodies")
    user.open("/network")
    page.get_by_role("link", name="size>100kB").click()
    page.wait_for_url("**filter=size**")
    check(0 < rows.count() < 8, f"a term is switched on: {rows.count()}")
    page.get_by_role("link", name="host:cdn.example.com").or_(page.get_by_role("link", name="host:api.example.com")).first.click()
    check("size" in page.url and "host" in page.url, "another holds besides")
    user.picture("network-terms")
    answer = user.context.request.get(user.url + "/network?filter=state:faild")
    check(answer.status == 400 and "did you mean" in answer.text(), "a mistake is told")


def bodies(browser, server, token):
    random.seed(8)
    device, random_bytes = Device(), random.randbytes(20_000)
    places = {
        "picture": device.exchange("/shoes/17.png", picture(320, 200), "image/png", host="cdn.example.com"),
        "binary": device.exchange("/model.bin", random_bytes, "application/octet-stream", host="cdn.example.com"),
        "page": device.exchange("/receipt", PAGE.encode(), "text/html; charset=utf-8"),
        "drawing": device.exchange("/logo.svg", DRAWING.encode(), "image/svg+xml"),
        "json": device.exchange("/basket", json.dumps(basket(60)).encode(), "application/json"),
        "form": device.exchange(
            "/orders", b"{\"order\":\"A-17\",\"token\":\"[redacted]\"}", "application/json", b"city=K%C3%B6ln+am+Rhein&street=&card=[redacted]",
            "application/x-www-form-urlencoded", method="POST", fields=[["Content-Type", "application/x-www-form-urlencoded"]]),
        "cut": device.exchange("/log", b"one line of many\n" * 9_000, "text/plain", byte_count=2_400_000, omission="limit"),
    }
    redirected = device.exchange("/old/terms", b"{}", "application/json")
    closed = device.app.facts[-1]
    at = device.at
    closed |= {
        "http_version": "2", "sent_at_us": at + 62_000, "first_byte_us": at + 120_000, "phases": {"lookup_us": 12_000, "connect_us": 18_000, "secure_us": 31_000},
        "redirects": [
            {"status": 301, "url": "https://api.example.com/terms?version=latest&from=old", "at_us": at + 70_000},
            {"status": 307, "url": "https://www.example.com/legal/terms", "at_us": at + 95_000}]}
    places["redirects"] = redirected
    device.app.add(device.at + 900_000, "closed", outcome="succeeded")
    alone = Server(device.write(FOLDER / "device"))
    try:
        with Browser(browser, alone, "bodies") as user:
            pictures_and_bytes(user, places, random_bytes)
            nothing_runs(user, places)
            find(user, places)
            copy(user, places)
            there_and_back(user, places)
            search(user)
            page = user.open(places["redirects"], "body-redirects", full=True)
            check(page.locator(".redirects li").count() == 3 and page.locator(".phases-table tr").count() == 6, "redirects and phases")
            page = user.open(places["cut"])
            check("of 2.4 MB were kept" in page.locator("article").inner_text(), "what is missing is told")
            for place in places.values():
                contrast(user.open(place), place)
        for width, scheme, script in [(1280, "dark", True), (360, "light", True), (360, "dark", False), (2560, "light", True)]:
            name = f"{width}-{scheme}{'' if script else '-plain'}"
            with Browser(browser, alone, name, width, scheme, script) as user:
                for place in ("json", "form", "redirects", "picture"):
                    user.open(places[place], f"body-{place}-{name}")
                user.open("/network", f"device-network-{name}")
        with Browser(browser, alone, "print") as user:
            user.page.emulate_media(media="print")
            user.open(places["form"], "body-print", full=True)
    finally:
        alone.stop()
