"""Counts every fact of a case in the end, and writes the table and its file in the form of `make faults`."""

import json
import time
from pathlib import Path

from doors import PATIENCE, Unavailable, until
from stages import key


class Counts:
    def __init__(self, runs=0, remark=None):
        self.runs, self.remark = runs, remark
        self.journaled = self.delivered = self.dropped = self.lost = self.doubled = 0
        self.problems, self.skipped, self.seconds = [], None, 0.0

    def line(self, name):
        """As Tests/Faults/FaultResult.swift writes one."""
        line = {
            "case": name,
            "runs": self.runs,
            "journaled": self.journaled,
            "delivered": self.delivered,
            "dropped": self.dropped,
            "lost": self.lost,
            "doubled": self.doubled,
        }
        optional = {"problems": self.problems, "remark": self.remark, "skipped": self.skipped}
        return line | {name: value for name, value in optional.items() if value}

    @property
    def has_failed(self):
        return bool(self.lost or self.doubled or self.problems)


def tally(facts, expected):
    """Delivered, lost and doubled, of lines that an export has."""
    keys = [key(fact) for fact in facts]
    there = set(keys)
    return len(there & expected), sorted(expected - there), len(keys) - len(there)


def count(scene, door, runs, erased=(), patience=PATIENCE):
    """All that a door says in the end, beside what one collector with one file says of the same sets.

    Replicas may need a moment; how long they had is in the remark where it is more than one second.
    """
    reference = scene.reference(erased)
    expected, counts = set(reference), Counts(runs)
    begun = time.monotonic()
    while True:
        facts = until(lambda: door.export()[0])[0]
        counts.delivered, lost, counts.doubled = tally(facts, expected)
        if not lost or time.monotonic() - begun > patience:
            break
        time.sleep(0.2)
    waited = time.monotonic() - begun
    counts.journaled, counts.lost = len(expected), len(lost)
    if waited > 1:
        counts.remark = f"all were there after {waited:.0f} s" if not lost else None
    if lost:
        counts.problems.append(f"lost, the first of them: {lost[:5]}")
    here = {key(fact): fact for fact in facts}
    beyond = sorted(here.keys() - expected)
    if beyond:
        counts.problems.append(f"{len(beyond)} facts are there that should not be, the first of them: {beyond[:3]}")
    other = [one for one in here.keys() & expected if here[one] != reference[one]]
    if other:
        one = min(other)
        members = [name for name in reference[one] | here[one] if reference[one].get(name) != here[one].get(name)]
        counts.problems.append(
            f"{len(other)} facts are not what one collector says of them, first {one}, in {members}: "
            f"{[here[one].get(name) for name in members]} instead of {[reference[one].get(name) for name in members]}"
        )
    counts.problems += ledgers(door, expected, erased) + scene.problems
    return counts


def ledgers(door, expected, erased):
    """Whether each source's ledger says what arrived, and that nothing is missing."""
    problems, numbers = [], {}
    for source, sequence in expected:
        numbers[source] = numbers.get(source, 0) + 1
    sources = until(door.sources)[0]
    for source, number in numbers.items():
        record = sources.get(source)
        if record is None:
            problems.append(f"the source {source} is not known")
        elif record["gaps"] or record["ledger"]["pending"]:
            problems.append(f"of {source} facts are missing: {record['gaps']}, {record['ledger']}")
        elif not erased and record["ledger"]["delivered"] != number:
            problems.append(f"the ledger of {source} says {record['ledger']['delivered']} of {number} facts")
    return problems


class Asking:
    """Somebody who asks for what was there before: each answer has to count all of it, or there is none."""

    def __init__(self, use_case, number):
        self.use_case, self.number, self.answers, self.refusals, self.partial = use_case, number, 0, 0, []

    def once(self, door):
        try:
            found = door.count(self.use_case)
        except Unavailable:
            self.refusals += 1
            return
        self.answers += 1
        if found != self.number:
            self.partial.append(found)

    def problems(self):
        return (
            [f"{len(self.partial)} of {self.answers} answers counted other than {self.number}: {self.partial[:5]}"]
            if self.partial
            else []
        )


TITLES = ["runs", "journaled", "delivered", "dropped", "lost", "doubled", "seconds"]


def head(names):
    return "case".ljust(width(names)) + "".join(title.rjust(10) for title in TITLES)


def width(names):
    return max(map(len, names))


def lines(name, counts, names):
    if counts.skipped:
        return [f"{name.ljust(width(names))}  skipped: {counts.skipped}"]
    line = counts.line(name)
    numbers = "".join(str(line[title]).rjust(10) for title in TITLES[:-1]) + f"{counts.seconds:10.1f}"
    return [name.ljust(width(names)) + numbers + (f"  {counts.remark}" if counts.remark else "")] + [
        f"  WRONG: {problem}" for problem in counts.problems[:10]
    ]


def write(results, file):
    file = Path(file)
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        json.dumps([counts.line(name) for name, counts in results.items()], indent=2, sort_keys=True) + "\n"
    )
