"""A transaction of thousands of facts: how long its page takes to open, and how smoothly it scrolls."""
import time

from inspector_browser import Browser, check

# Frames while the page goes by from top to bottom, three fifths of a window each: their lengths in milliseconds.
SCROLL = """() => new Promise(done => {
    const lengths = [];
    let last = performance.now();
    function frame(now) {
        lengths.push(now - last);
        last = now;
        if (scrollY + innerHeight >= document.documentElement.scrollHeight - 1) return done(lengths);
        scrollBy(0, innerHeight * 3 / 5);
        requestAnimationFrame(frame);
    }
    scrollTo(0, 0);
    requestAnimationFrame(frame);
})"""


class Opened:
    """What it took, in milliseconds."""

    def __init__(self, page, url, rounds=3):
        self.loads = []
        for _ in range(rounds):
            begun = time.monotonic()
            page.goto(url)
            self.loads.append(1000 * (time.monotonic() - begun))
        timing = page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
        self.load, self.answer, self.bytes = min(self.loads), timing["responseEnd"] - timing["requestStart"], timing["decodedBodySize"]
        frames = sorted(page.evaluate(SCROLL)[1:])
        self.frames, self.median, self.late = len(frames), frames[len(frames) // 2], frames[len(frames) * 95 // 100]
        self.longest = frames[-1]

    def __str__(self):
        return (
            f"{self.load:.0f} ms to load, {self.answer:.0f} ms of it the answer, {self.bytes / 1000:.0f} kB; "
            f"{self.frames} frames of scrolling: median {self.median:.0f} ms, 95 % {self.late:.0f} ms, longest {self.longest:.0f} ms")


def measure(browser, server, token, transaction, events=2000):
    with Browser(browser, server, "large", token=token) as user:
        opened = Opened(user.page, f"{server.url}/transactions/{transaction}")
        rows = user.page.locator("table td + td").count()
        check(rows >= events + 1000, f"the large one has {rows} rows")
        check(user.page.locator(".t details").count() == 500, "the large one has its requests")
        # Only what is in view was laid out; what is asked for is there all the same.
        user.page.get_by_role("heading", name="Requests").scroll_into_view_if_needed()
        user.page.locator("figure li a").last.click()
        check(user.page.locator("details:target[open]").count() == 1, "the last bar of the large one leads to its request")
        user.picture("large")
        print(f"{events:,} events and 500 exchanges: {opened}")
        return opened
