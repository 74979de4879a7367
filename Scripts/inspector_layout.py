"""What can be measured of how pages are laid out: on a phone and on a desk, light and dark, with and without script; and whose clock times are by."""
import datetime
import re
import zoneinfo

from inspector_browser import Browser, check

# Words of the page that are broken inside although they would have fitted into a line; what has no spaces, as URLs have, may be broken.
BROKEN = """() => {
    const texts = document.createTreeWalker(document.querySelector('body'), NodeFilter.SHOW_TEXT), broken = new Set();
    while (texts.nextNode()) {
        const text = texts.currentNode;
        if (text.parentElement.closest('script, svg, pre, .fields, .url, .unseen')) continue;
        for (const found of text.data.matchAll(/(?<=^|\\s)[A-Za-z]{2,20}(?=[\\s,:;]|[.](?:\\s|$)|$)/g)) {
            const range = document.createRange();
            range.setStart(text, found.index);
            range.setEnd(text, found.index + found[0].length);
            if (new Set(Array.from(range.getClientRects(), box => Math.round(box.top))).size > 1) broken.add(found[0]);
        }
    }
    return Array.from(broken);
}"""

# What has to be scrolled sideways, but for code, which is shown as it is, and one line of words to choose from.
WIDE = """() => Array.from(document.querySelectorAll('main *')).filter(e => e.scrollWidth > e.clientWidth + 1
    && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && !e.closest('pre, .json, .terms')).map(
    e => e.className + ' ' + (e.getAttribute('aria-label') || '') + ': ' + e.scrollWidth + ' in ' + e.clientWidth)"""

# Headings that are aligned otherwise than what stands below them, and rules below headings that are not drawn all along.
SKEWED = """() => Array.from(document.querySelectorAll('main thead tr')).flatMap(head => {
    const table = head.closest('table'), row = Array.from(table.rows).find(row => !row.closest('thead'));
    if (!row || !head.getClientRects().length || row.cells.length !== head.cells.length) return [];
    const side = cell => ({start: 'left', end: 'right', '-webkit-right': 'right'})[getComputedStyle(cell).textAlign] || getComputedStyle(cell).textAlign;
    const skewed = Array.from(head.cells).filter((cell, i) => cell.textContent.trim() && row.cells[i].textContent.trim() && side(cell) !== side(row.cells[i]));
    const rules = new Set(Array.from(head.cells, cell => getComputedStyle(cell).borderBottomWidth));
    return skewed.map(cell => cell.textContent).concat(rules.size > 1 ? ['gaps in the rule of ' + table.parentElement.ariaLabel] : []);
})"""


def layout(browser, server, token, places):
    for width, scheme, script in [(1280, "light", True), (1280, "dark", True), (390, "light", True), (390, "dark", True), (390, "light", False)]:
        name = f"layout-{width}-{scheme}{'' if script else '-plain'}"
        with Browser(browser, server, name, width, scheme, script, token, 844 if width == 390 else 900) as user:
            for place, path in places.items():
                page = user.open(path, f"{place}-{name}", full=True)
                height = page.locator("header.top").bounding_box()["height"]
                check(height <= 60, f"{name} {path}: the header takes {height} px")
                if script:
                    page.evaluate("for (const folded of document.querySelectorAll('details.numbers')) folded.open = true")
                    for what, measure in [("broken inside", BROKEN), ("has to be scrolled sideways", WIDE), ("not aligned", SKEWED)]:
                        found = page.evaluate(measure)
                        check(found == [], f"{name} {path}: {what}: {found}")
            if width == 390:
                unfold(user, name)


def unfold(user, name):
    """What is folded on a phone, with and without script."""
    page = user.open("/use-cases/login/funnel")
    form = page.locator("form.ask")
    check(not form.is_visible() and page.locator("table").is_visible(), f"{name}: the answer stands before its form")
    page.get_by_role("button", name="Change the question").click()
    check(form.is_visible(), f"{name}: the form unfolds")
    user.picture(f"{name}-question")
    form.locator("select[name=step]").nth(1).select_option("requestSent")
    form.get_by_role("button", name="Show").click()
    page.wait_for_url("**step=requestSent**")
    page.get_by_role("button", name="Menu").click()
    user.picture(f"{name}-menu")
    if user.script:
        page.keyboard.press("Escape")
        check(page.url.endswith("step=%24") or "step=requestSent" in page.url, f"{name}: Escape closes the menu and leaves the page alone")
        check(not page.get_by_role("navigation", name="Pages").is_visible(), f"{name}: Escape closes the menu")
        page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Network").click()
    page.wait_for_url("**/network")


def local_times(browser, server, token, places):
    """In a zone half an hour off: every moment by the reader's clock, with UTC on hover; without script as the server wrote it."""
    zone = zoneinfo.ZoneInfo("America/St_Johns")
    for script in (True, False):
        name = f"times{'' if script else '-plain'}"
        with Browser(browser, server, name, script=script, token=token, zone=zone.key) as user:
            for path in places:
                page = user.open(path)
                moments = page.locator("time[datetime]").all()
                check(len(moments) > 0, f"{name} {path}: times")
                for moment in moments[:5]:
                    exact = datetime.datetime.fromisoformat(moment.get_attribute("datetime"))
                    shown = exact.astimezone(zone) if script else exact
                    text = moment.text_content()
                    written = shown.strftime("%Y-%m-%d %H:%M:%S.%f")[:23]
                    check(text.strip() in written and re.search(r"\d\d:\d\d", text), f"{name} {path}: {text} for {written}")
                    if script:
                        check(moment.get_attribute("title") == f"{exact.strftime('%Y-%m-%d %H:%M:%S.%f')[:23]} UTC", f"{name} {path}: UTC on hover")
                told = page.locator("footer").inner_text()
                check(("Times in America/St_Johns, UTC on hover" if script else "Times in UTC.") in told, f"{name} {path}: the zone is told: {told}")
