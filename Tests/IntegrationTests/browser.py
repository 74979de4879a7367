"""What tests of pages share: a visitor with a browser in which nothing may complain, and measurements."""
import pathlib
import time

import axe_playwright_python
from waybill import ROOT, TIMEOUT

# axe-core, Deque's checker of WCAG 2.2 A and AA and of good practice, comes with a package of PyPI.
AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# The headings of tables that do not stand above their columns.
ASTRAY = """() => Array.from(document.querySelectorAll('thead tr')).flatMap(head => {
    const row = Array.from(head.closest('table').rows).find(row => !row.closest('thead'));
    const isShown = head.getClientRects().length && row && row.getClientRects().length;
    const isCard = row && getComputedStyle(row).display !== 'table-row';  // on a phone, whose cells have labels
    if (!isShown || isCard || row.cells.length !== head.cells.length) return [];
    return Array.from(head.cells).filter((cell, i) => {
        const [a, b] = [cell.getBoundingClientRect(), row.cells[i].getBoundingClientRect()];
        return Math.abs(a.left - b.left) > 2 || a.bottom > b.top + 2;
    }).map(cell => cell.textContent);
})"""

# Text that is less than 4.5 to 1 against what is behind it (WCAG 2.2, 1.4.3), in the colours of the style sheet.
FAINT = """() => {
    const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const light = text => { const [r, g, b] = text.match(/[0-9.]+/g).map(v => linear(v / 255));
        return .2126 * r + .7152 * g + .0722 * b; };
    const behind = element => { for (let e = element; e; e = e.parentElement) {
        const c = getComputedStyle(e).backgroundColor;
        if (c.startsWith('rgb') && !c.endsWith(', 0)')) return c; } return 'rgb(255, 255, 255)'; };
    const faint = new Set();
    for (const e of document.querySelectorAll('body *')) {
        const hasText = Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim());
        if (e.closest('svg') || !hasText || !e.getClientRects().length) continue;
        const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) faint.add(e.localName + '.' + e.className + ' ' + ratio.toFixed(2));
    }
    return Array.from(faint); }"""

# Buttons, fields and links without a name (WCAG 2.2, 4.1.2).
NAMELESS = """() => Array.from(document.querySelectorAll('button, input:not([type=hidden]), select, a'))
    .filter(e => !(e.getAttribute('aria-label') || e.labels && e.labels.length || e.textContent.trim()))
    .map(e => e.outerHTML)"""


class Visitor:
    """Pages that nothing may complain in, that ask for nothing elsewhere, and that fit their window."""

    def __init__(
            self, browser, site, width=1280, scheme="light", script=True, token=None, zone=None, pictures="e2e"):
        self.look, self.script = f"{width}-{scheme}{'' if script else '-plain'}", script
        self.url, self.complaints = site if isinstance(site, str) else site.url, []
        self.pictures = ROOT / ".build" / pictures
        self.context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 400 else 900}, color_scheme=scheme,
            java_script_enabled=script, timezone_id=zone, permissions=["clipboard-read", "clipboard-write"])
        self.context.set_default_timeout(TIMEOUT * 1000)
        if token:
            name, _, session = site.log_in(token).partition("=")
            self.context.add_cookies(
                [{"name": name, "value": session, "url": self.url, "httpOnly": True, "sameSite": "Strict"}])
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complain(message.type in ("error", "warning"), message.text))
        self.page.on("pageerror", lambda error: self.complain(True, str(error)))
        self.page.on("dialog", lambda dialog: (self.complain(True, "a dialog opened"), dialog.dismiss()))
        self.page.on("request", lambda request: self.complain(not request.url.startswith(self.url), request.url))

    def complain(self, is_wrong, what):
        if is_wrong:
            self.complaints.append(f"{self.page.url}: {what}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
        assert self.complaints == []

    def open(self, path, picture=None, full=False):
        self.page.goto(self.url + path)
        assert self.page.get_by_role("heading", level=1).count() == 1, f"{path}: one main heading"
        assert self.page.get_by_role("main").count() == 1, f"{path}: one main landmark"
        if self.script:
            assert self.fits(), f"{path} fits the window"
            assert self.page.evaluate(ASTRAY) == [], f"{path}: headings stand above their columns"
        if picture:
            self.picture(picture, full)
        return self.page

    def wait(self, condition):
        """Until a condition holds, as `wait_for_function`, whose second look is refused by the pages' own policy."""
        deadline = time.monotonic() + TIMEOUT
        while not self.page.evaluate(f"new Promise(requestAnimationFrame).then(() => {condition})"):
            assert time.monotonic() < deadline, condition

    def fits(self):
        return self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

    def picture(self, name, full=False):
        self.page.screenshot(path=self.pictures / f"{name}-{self.look}.png", full_page=full)

    def unfold(self, selector="details"):
        # What unfolds may be drawn then, and have something to unfold.
        self.page.evaluate("""async all => { for (let round = 0; round < 3; round++) {
            for (const e of document.querySelectorAll(all)) e.open = true;
            await new Promise(done => setTimeout(done)); } }""", selector)

    def assert_readable(self):
        """Text has contrast; buttons, fields and links have names."""
        assert self.page.evaluate(FAINT) == [], self.page.url
        assert self.page.evaluate(NAMELESS) == [], self.page.url

    def assert_accessible(self):
        """axe-core finds nothing wrong; gives how many of its rules it has looked at."""
        self.page.evaluate(AXE)  # by the debugger: the pages' own policy lets no script in
        result = self.page.evaluate(
            "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", RULES)
        assert [(each["id"], each["nodes"][:3]) for each in result["violations"]] == [], self.page.url
        return len(result["passes"])

    def copied(self):
        return self.page.evaluate("navigator.clipboard.readText()")

    def download(self, link):
        with self.page.expect_download() as waiting:
            link.click()
        return waiting.value
