"""Fixtures of the whole suite. What is made once for all workers is made by the first that needs it."""
import fcntl
import os
from contextlib import ExitStack

import attacks
import pytest
from browser import Visitor
from playwright.sync_api import sync_playwright
from waybill import PRODUCTS, Collector, execute
from xdist.scheduler import LoadScopeScheduling


class Scheduling(LoadScopeScheduling):
    """A module is one worker's, so that its fixtures are made once; each test of these is for any worker."""

    SHARED = ("test_description.py", "inspector/test_pages.py")

    def _split_scope(self, nodeid):
        module = nodeid.partition("::")[0]
        return nodeid if module.endswith(self.SHARED) else module


def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """`once(name, fill)`: a folder that `fill` has filled, in this worker or in another."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name, fill):
        folder = base / name
        with open(base / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                begun = base / f"{name}-{os.getpid()}"
                begun.mkdir()
                fill(begun)
                begun.rename(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def demo(once):
    """Where the demo has run: its output in `printed.txt`, its stores in `.build/demo`."""
    def play(folder):
        (folder / "printed.txt").write_text(execute(PRODUCTS / "LoginDemo", cwd=folder, RUNS="40").stdout)

    return once("demo", play)


@pytest.fixture(scope="session")
def collected(demo):
    """The store of the demo's collector."""
    return demo / ".build/demo/collector"


@pytest.fixture(scope="session")
def sample_store(once):
    """The store of `make sample-store`, and the IDs of its large transactions in `printed.txt`."""
    def fill(folder):
        printed = execute(PRODUCTS / "SampleReports", folder / "sample.sqlite").stdout
        (folder / "printed.txt").write_text(printed)

    return once("sample-store", fill)


@pytest.fixture(scope="session")
def samples(once, collected):
    """Reports as pages, and a store of odd exchanges."""
    return once("samples", lambda folder: execute(PRODUCTS / "SampleReports", folder, collected))


@pytest.fixture(scope="module")
def serve():
    """Starts collectors: `serve(place, *options, roles=())`. They must end with 0 after the module's last test."""
    with ExitStack() as running:
        yield lambda *arguments, **options: running.enter_context(Collector(*arguments, **options))


@pytest.fixture
def attack(request):
    """`with attack(collector, name) as tried`: what is done in there is done beside an innocent client, a source with a
    token of its own in the same project, or in `project=`; it may wait for `seconds=`. Count in `tried.count`, and say in `tried.held` what held.
    At the end the client has lost nothing and waited for nothing long, and the collector has stayed small."""
    return lambda collector, name, **options: attacks.Attempt(request.node, collector, name, **options)


def pytest_terminal_summary(terminalreporter):
    reports = [
        report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call"]
    lines = attacks.table(reports)
    if lines:
        terminalreporter.section("attacks")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Visitors of a site: `visit(site, width, scheme, script)`. At the end of the test, nothing may have complained."""
    with ExitStack() as visitors:
        def start(site, *look, **options):
            options.setdefault("token", getattr(site, "tokens", {}).get("read"))
            return visitors.enter_context(Visitor(browser, site, *look, **options))

        yield start
