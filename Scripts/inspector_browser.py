"""What the checks of the inspector share: a collector as a process, a browser in which nothing may complain, and the list of what was wrong."""
import http.client
import json
import os
import pathlib
import subprocess
import sys

import inspector_sets as sets

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYBILL = pathlib.Path(os.environ.get("WAYBILL", ROOT / ".build" / "debug" / "waybill"))
FOLDER = ROOT / ".build" / "e2e"
failures = []


def check(is_right, what):
    if not is_right:
        failures.append(what)
        print(f"wrong: {what}", file=sys.stderr)


def run(*arguments):
    """What `waybill` prints."""
    return subprocess.run([WAYBILL, *arguments], check=True, capture_output=True, text=True).stdout.strip()


class Server:
    """`waybill serve` as a process, on any free port."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([WAYBILL, "serve", *arguments, "--port", "0"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def token(self, role):
        return run("token", "add", FOLDER / "store", "--role", role)

    def send(self, body, token):
        """The receipt of a set."""
        headers = {"Content-Type": "application/vnd.waybill.transaction-set.v1+json", "Authorization": f"Bearer {token}"}
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=30)
        connection.request("POST", "/v1/sets", sets.encoded(body), headers)
        receipt = json.loads(connection.getresponse().read())
        connection.close()
        return receipt

    def post(self, body, token):
        receipt = self.send(body, token)
        check(not receipt.get("rejected"), f"a set was rejected: {str(receipt)[:300]}")

    def worked(self):
        """Milliseconds of processor time so far (proc_pid_stat(5): fields 14 and 15)."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        check(self.process.wait(20) == 0, "the server ends when it is asked to, also while somebody follows")


# The headings of tables that do not stand above their columns.
ASTRAY = """() => Array.from(document.querySelectorAll('thead tr')).flatMap(head => {
    const row = Array.from(head.closest('table').rows).find(row => !row.closest('thead'));
    if (!row || !head.getClientRects().length || !row.getClientRects().length || row.cells.length !== head.cells.length) return [];
    return Array.from(head.cells).filter((cell, i) => {
        const [a, b] = [cell.getBoundingClientRect(), row.cells[i].getBoundingClientRect()];
        return Math.abs(a.left - b.left) > 2 || a.bottom > b.top + 2;
    }).map(cell => cell.textContent);
})"""


class Browser:
    """Pages that nothing may complain in, that ask for nothing elsewhere, and that fit their window."""

    def __init__(self, browser, server, name, width=1280, scheme="light", script=True, token=None, height=900, zone=None):
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=script, timezone_id=zone,
            permissions=["clipboard-read", "clipboard-write"])
        self.context.set_default_timeout(15_000)
        self.page, self.url, self.name, self.script = self.context.new_page(), server.url, name, script
        self.page.on("console", lambda message: check(message.type not in ("error", "warning"), f"{name}: console: {message.text}"))
        self.page.on("pageerror", lambda error: check(False, f"{name}: {error}"))
        self.page.on("dialog", lambda dialog: (check(False, f"{name}: a dialog opened"), dialog.dismiss()))
        self.page.on("request", lambda request: check(request.url.startswith(server.url), f"{name}: asked for {request.url}"))
        if token:
            self.context.add_cookies([{"name": "waybill_token", "value": token, "url": server.url, "httpOnly": True, "sameSite": "Strict"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def open(self, path, picture=None, full=False):
        self.page.goto(self.url + path)
        check(self.page.get_by_role("heading", level=1).count() == 1, f"{self.name} {path}: one main heading")
        check(self.page.get_by_role("main").count() == 1, f"{self.name} {path}: one main landmark")
        if self.script:
            excess = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            check(excess <= 0, f"{self.name} {path}: {excess} px wider than the window")
            astray = self.page.evaluate(ASTRAY)
            check(astray == [], f"{self.name} {path}: not above their columns: {astray}")
        if picture:
            self.picture(picture, full)
        return self.page

    def picture(self, picture, full=False):
        self.page.screenshot(path=FOLDER / f"{picture}.png", full_page=full)


def contrast(page, path):
    """Text against what is behind it: 4.5 to 1 at least (WCAG 2.2, 1.4.3); buttons, fields and links have names (4.1.2)."""
    low = page.evaluate("""() => {
        const light = text => { const [r, g, b] = text.match(/[0-9.]+/g).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
            return .2126 * r + .7152 * g + .0722 * b; };
        const behind = element => { for (let e = element; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
            if (c.startsWith('rgb') && !c.endsWith(', 0)')) return c; } return 'rgb(255, 255, 255)'; };
        const low = new Set();
        for (const e of document.querySelectorAll('body *')) {
            if (e.closest('svg') || !Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
            const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
            const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            if (ratio < 4.5) low.add(e.localName + '.' + e.className + ' ' + ratio.toFixed(2));
        }
        return Array.from(low); }""")
    check(low == [], f"contrast of {path}: {low}")
    nameless = page.evaluate("""() => Array.from(document.querySelectorAll('button, input:not([type=hidden]), select, a'))
        .filter(e => !(e.getAttribute('aria-label') || e.labels && e.labels.length || e.textContent.trim())).map(e => e.outerHTML)""")
    check(nameless == [], f"without a name on {path}: {nameless}")
