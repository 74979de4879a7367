"""What every attack on a running collector is measured by: its memory at the peak, and how long an innocent client had
to wait beside it. The limits are for a machine whose processors and disk are busy; on a quiet one PEAK_MB=150 and
INNOCENT_SECONDS=1 hold."""
import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from waybill import WAYBILL, execute

SHORT = "SHORT" in os.environ
PEAK_MB = float(os.environ.get("PEAK_MB", "200"))
INNOCENT_SECONDS = float(os.environ.get("INNOCENT_SECONDS", "30"))
GIVEN_UP_SECONDS = 60  # when the innocent no longer sends a set again: what is measured ends here
PROPERTY = "attack"


def often(count):
    """So often; in the short form that CI runs (SHORT=1), a quarter of it."""
    return (count + 3) // 4 if SHORT else count


@dataclass
class Attack:
    """One line of the table. The test counts what it sent and says what held."""
    name: str
    count: int = 0
    held: str = ""
    peak_mb: float = 0
    longest: float = 0
    sets: int = 0


class Innocent:
    """The process of innocent.py."""

    def __init__(self, collector, project):
        environment = dict(os.environ)
        if collector.tokens:  # a token of its own, which a running collector knows at the next request
            environment["TOKEN"] = execute(
                WAYBILL, "token", "add", collector.place, "--role", "ingest", "--project", project).stdout.strip()
        script = Path(__file__).with_name("innocent.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), collector.address, str(GIVEN_UP_SECONDS)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment)
        line = self.process.stdout.readline()
        assert line.startswith("one was taken"), f"an innocent client is served before the attack: {line}"
        self.served, self.last = 1, line
        self.reading = threading.Thread(target=self.read, daemon=True)
        self.reading.start()

    def read(self):
        for line in self.process.stdout:
            self.served, self.last = self.served + line.startswith("one was taken"), line

    def end(self):
        """What it saw."""
        try:
            self.process.stdin.close()
            self.reading.join(2 * GIVEN_UP_SECONDS)
            return json.loads(self.last)
        finally:
            self.process.kill()


class Attempt:
    """What `with attack(collector, name) as tried` stands for."""

    def __init__(self, node, collector, name, project="waybill", seconds=INNOCENT_SECONDS):
        self.node, self.collector, self.project, self.attack = node, collector, project, Attack(name)
        self.seconds = seconds

    def __enter__(self):
        self.innocent = Innocent(self.collector, self.project)
        Path(f"/proc/{self.collector.process.pid}/clear_refs").write_text("5")  # proc(5): the peak is forgotten
        self.attack.innocent = self.innocent
        return self.attack

    def __exit__(self, kind, *_):
        saw, attack = self.innocent.end(), self.attack
        attack.longest, attack.sets = saw["longest"], saw["sets"]
        attack.peak_mb = self.collector.memory("VmHWM") / (1 << 20)
        self.node.user_properties.append((PROPERTY, asdict(attack)))
        if kind is None:
            assert not saw["lost"], f"an innocent client lost a set beside it: {saw['lost']}"
            assert attack.longest <= self.seconds, f"an innocent client waited for {attack.longest:.1f} s"
            assert attack.peak_mb <= PEAK_MB, f"the collector took {attack.peak_mb:.0f} MB"
            assert attack.count and attack.held, "an attack says how often it was tried, and what held"


def table(reports):
    """The lines of all attacks of a run."""
    rows = [
        (Attack(**value), report.outcome) for report in reports for name, value in report.user_properties
        if name == PROPERTY]
    if not rows:
        return []
    width = max(len(attack.name) for attack, _ in rows)
    lines = [f"{'attack':{width}}  {'tried':>6}  {'peak MB':>7}  {'innocent waited':>15}  what held"]
    for attack, outcome in rows:
        held = attack.held if outcome == "passed" else "NOTHING: the test failed"
        wait = f"{attack.longest:.2f} s"
        lines.append(f"{attack.name:{width}}  {attack.count:6}  {attack.peak_mb:7.0f}  {wait:>15}  {held}")
    return lines
