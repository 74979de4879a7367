"""A transaction of thousands of facts: how long its page takes to open, and how smoothly it scrolls."""
import time

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
        self.load, self.bytes = min(self.loads), timing["decodedBodySize"]
        self.answer = timing["responseEnd"] - timing["requestStart"]
        frames = sorted(page.evaluate(SCROLL)[1:])
        self.frames, self.median, self.late = len(frames), frames[len(frames) // 2], frames[len(frames) * 95 // 100]
        self.longest = frames[-1]

    def check(self, page, exchanges=500):
        requests = page.locator(".bars li.x:not(.r)")
        seen = requests.count()
        assert page.locator(".bars li").count() <= 1000, "a page has a bound"
        while page.locator("figcaption a[rel=next]").count():
            page.locator("figcaption a[rel=next]").click()
            page.wait_for_load_state()
            seen += requests.count()
        assert seen == exchanges, "its pages show every request"

    def __str__(self):
        return (
            f"{self.load:.0f} ms to load, {self.answer:.0f} ms of it the answer, {self.bytes / 1000:.0f} kB; "
            f"{self.frames} frames of scrolling: median {self.median:.0f} ms, 95 % {self.late:.0f} ms, "
            f"longest {self.longest:.0f} ms")
