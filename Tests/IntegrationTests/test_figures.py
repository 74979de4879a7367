"""The same figure stands in several files. Broken, a reader finds two figures for one thing, of which one is of an older run."""
import re

from waybill import ROOT

FIGURES = (ROOT / "Sources/Waybill/Waybill.docc/Figures.md").read_text()
README = (ROOT / "README.md").read_text()
BENCHMARKS = (ROOT / "Benchmarks/README.md").read_text()


def rows(text):
    """The cells of each row of the tables in a page, by the first cell."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


def waybill(row):
    table = rows(FIGURES)
    column = table[""].index("Waybill")
    return table[row][column]


def test_the_readme_has_the_figures_of_the_last_run():
    event, added, lost = (waybill(row) for row in ("an event on the caller's thread, median", "added to an executable", "lost by SIGKILL"))
    assert f"An event takes {event} of the caller's thread" in README
    assert f"Waybill adds {added} to an executable" in README
    assert f"survive SIGKILL: {lost} were lost" in README
    assert f"Waybill adds {added} of stripped x86_64 code" in BENCHMARKS


def test_bytes_and_requests_are_the_same_in_both_pages():
    bytes_each = re.search(r"the store needs (\d+), (\d+) or (\d+) bytes", FIGURES).groups()
    explained = {name.partition(",")[0].partition(":")[0].strip("`"): cells for name, cells in rows(BENCHMARKS).items()}
    assert explained["bytesPerEvent"][0] == ", ".join(bytes_each)
    without, with_it = rows(FIGURES)["processors, each request"]
    assert explained["server.cpu"][0] == f"{with_it.removesuffix(' µs')} and {without.removesuffix(' µs')}"
