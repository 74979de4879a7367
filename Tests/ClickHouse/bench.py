"""Measures one ClickHouse beside SQLite on the same events. Run by `make bench-cluster`.

A store in SQLite is filled once for each number of events, and kept in .build/bench-store: `move` stands beside what
it took to take these in, and copies it to one ClickHouse of the current version (chDB). Then the command line asks both
the same. Seconds are those of processors, of the command and of the server while it worked for it, but `seconds`, which
are a clock's. Memory is the command's, and disk what it had in its temporary folder. Answers that differ give no
figure. In the end some questions are asked about one in a hundred transactions, and how far off their counts are
stands beside the margin that the answer says. Each command is a process of its own, which begins with nothing. Writes .build/bench-cluster.json.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from engines import ROOT, Engine, Skipped

QUESTIONS = {
    "summary": [],
    "duration": ["--use-case", "login", "--from", "requestSent", "--to", "responseReceived"],
    "funnel": ["--use-case", "login", "--steps", "initiated,requestSent,serverAccepted,responseReceived,$"],
    "transitions": ["--use-case", "login"],
    "dropoff": ["--use-case", "login"],
    "legs": ["--use-case", "login"],
    "network": [],
    "why": ["--use-case", "login", "--outcome", "failed"],
    "compare": ["--use-case", "login", "--by", "variant", "--a", "A", "--b", "B"],
}
# `recent` is `summary` of the last twentieth of the time.
LOOKS = ["list", "show", "recent", "export"]
# By what says how many transactions there are.
SAMPLED = {
    "summary": lambda answer: sum(each["runs"] for each in answer["use_cases"]),
    "duration": lambda answer: answer["total"]["statistics"]["count"],
}
SAMPLE = 100
LIMIT = 3600  # seconds for one command


def tree_bytes(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                pass  # it has gone since
    return total


class Watched:
    """A command with its time, memory, and what it had in its temporary folder at most."""

    def __init__(self, *command):
        self.temporary = tempfile.mkdtemp(prefix="bench-cluster-")
        self.disk, begun = 0, time.monotonic()
        output = tempfile.TemporaryFile()
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            env=os.environ | {"TMPDIR": self.temporary},
        )
        over = threading.Event()
        watcher = threading.Thread(target=self.watch, args=[over])
        watcher.start()
        ender = threading.Timer(LIMIT, process.kill)
        ender.start()
        errors = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ender.cancel()
        over.set()
        watcher.join()
        shutil.rmtree(self.temporary, ignore_errors=True)
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}: {errors.strip()[-500:]}")
        self.file = output
        self.wall = time.monotonic() - begun
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024

    @property
    def output(self):
        self.file.seek(0)
        return self.file.read().decode()

    def lines(self):
        """A sum of all lines, in any order, which needs no memory: a child's is counted from before it is another program."""
        self.file.seek(0)
        return sum(map(hash, self.file))

    def watch(self, over):
        while not over.wait(0.1):
            self.disk = max(self.disk, tree_bytes(self.temporary))


class Server:
    """The processor's seconds of a process, since the last time they were asked for."""

    def __init__(self, pid):
        self.pid, self.last = pid, 0.0
        self.spent()

    def spent(self):
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        now = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        spent, self.last = now - self.last, now
        return spent


class Report:
    def __init__(self):
        self.rows = []
        heads = zip(["SQLite", "client", "server", "ratio", "seconds", "MB memory", "MB disk"], [9, 9, 9, 8, 9, 11, 9])
        print(" " * 14 + "".join(f"{head:>{width}}" for head, width in heads), flush=True)

    def add(self, name, sqlite, other, server):
        row = {
            "name": name,
            "sqlite_cpu_s": round(sqlite, 3),
            "client_cpu_s": round(other.cpu, 3),
            "server_cpu_s": round(server, 3),
            "ratio": round((other.cpu + server) / sqlite, 2),
            "wall_s": round(other.wall, 2),
            "client_memory_bytes": other.memory,
            "client_disk_bytes": other.disk,
        }
        self.rows.append(row)
        print(
            f"{name:14}{sqlite:9.2f}{other.cpu:9.2f}{server:9.2f}{row['ratio']:8.1f}{other.wall:9.1f}"
            f"{other.memory / 1e6:11.0f}{other.disk / 1e6:9.0f}",
            flush=True,
        )


def filled(events, benchmarks):
    """A folder with a store of so many events, made where it is missing, and what was measured when it was made."""
    folder = ROOT / f".build/bench-store/timed-{events}"
    about = folder.with_suffix(".json")
    if not about.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        print(f"Making a store of {events} events, which is kept in {folder.relative_to(ROOT)}.", file=sys.stderr)
        about.write_text(Watched(benchmarks, "--fill", events, folder).output)
    return folder, json.loads(about.read_text())


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--events", type=int, default=1_000_000)
    arguments.add_argument("--rows", help="some of them, by name: summary,show")
    arguments = arguments.parse_args()
    products = ROOT / ".build/release"
    waybill = Path(os.environ.get("WAYBILL", products / "waybill-cli"))
    benchmarks = Path(os.environ.get("BENCHMARKS", products / "Benchmarks"))
    chosen = arguments.rows.split(",") if arguments.rows else [*LOOKS, *QUESTIONS, "verify"]
    folder, made = filled(arguments.events, benchmarks)
    data = tempfile.mkdtemp(prefix="clickhouse-bench-")
    try:
        with Engine("one", "--folder", data) as engine:
            measure(engine, waybill, folder, made, chosen)
    finally:
        shutil.rmtree(data, ignore_errors=True)


def sampled(waybill, name, folder, address, server, report):
    """A question about one in so many: what that takes, and how far off it is."""
    whole = json.loads(Watched(waybill, "ask", name, folder, "--json", *QUESTIONS[name]).output)
    options = ["--json", "--sample", f"1/{SAMPLE}", *QUESTIONS[name]]
    here = Watched(waybill, "ask", name, folder, *options)
    server.spent()
    there = Watched(waybill, "ask", name, address, *options)
    spent = server.spent()
    if here.output != there.output:
        sys.exit(f"{name} --sample: SQLite and ClickHouse do not say the same.")
    report.add(f"{name} 1/{SAMPLE}", here.cpu, there, spent)
    answer = json.loads(here.output)
    told, true = SAMPLED[name](answer), SAMPLED[name](whole)
    result = {"name": name, "one_in": SAMPLE, "estimated": told, "true": true, "margin": answer["weighed"]["margin"]}
    print(f"{'':14}{told} for {true}: {abs(told - true) / true:.2%} off; it says ± {result['margin'] / told:.2%}")
    return result


def measure(engine, waybill, folder, made, chosen):
    address = f"clickhouse://127.0.0.1:{engine.ports[0]}/bench"
    server = Server(engine.nodes["1.1"]["pid"])
    Watched(waybill, "migrate", address)
    report = Report()
    server.spent()
    report.add("move", made["cpuSeconds"], Watched(waybill, "move", folder, address), server.spent())
    engine.post("OPTIMIZE TABLE bench.facts FINAL")
    merging = server.spent()
    stored = {
        table: int(size)
        for table, size in (
            line.split("\t")
            for line in engine.post(
                "SELECT table, sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'bench' GROUP BY table"
            )
            .decode()
            .splitlines()
        )
    }
    # One that a server took part in, so that clocks are compared.
    rows = json.loads(Watched(waybill, "list", folder, "--json", "--limit", "50").output)["rows"]
    key = next(row["id"] for row in rows if row["source_count"] > 1)
    oldest = json.loads(Watched(waybill, "list", folder, "sort:oldest", "--json", "--limit", "1").output)["rows"]
    newest, first = rows[0]["begun_us"], oldest[0]["begun_us"]
    since = str(newest - (newest - first) // 20)
    commands = {
        "verify": lambda place: [waybill, "verify", place],
        "list": lambda place: [waybill, "list", place, "--json"],
        "show": lambda place: [waybill, "show", place, key, "--json"],
        "recent": lambda place: [waybill, "ask", "summary", place, "--since", since, "--json"],
        "export": lambda place: [waybill, "export", place],
    }
    # Each has its own order of facts and its own cursor, and only a folder has tables to check.
    said = {
        "verify": lambda said: None,
        "list": lambda said: json.loads(said.output)["rows"],
        "export": Watched.lines,
    }
    for name in chosen:

        def command(place):
            return commands[name](place) if name in commands else [waybill, "ask", name, place, "--json", *QUESTIONS[name]]

        here = Watched(*command(folder))
        server.spent()
        there = Watched(*command(address))
        spent = server.spent()
        answer = said.get(name, lambda said: said.output)
        if answer(here) != answer(there):
            sys.exit(f"{name}: SQLite and ClickHouse do not say the same.")
        report.add(name, here.cpu, there, spent)
    samples = [sampled(waybill, name, folder, address, server, report) for name in SAMPLED if name in chosen]
    sqlite_bytes = tree_bytes(folder) / made["events"]
    bytes_each = sum(stored.values()) / made["events"]
    print(f"\n{made['events']} events, {made['facts']} facts.")
    print(f"Bytes an event: SQLite {sqlite_bytes:.0f}, ClickHouse {bytes_each:.0f}.")
    print(f"Merging all of it: {merging:.1f} s of the server. SQLite's ingest: {made['cpuSeconds']:.1f} s.")
    result = {
        **made,
        "rows": report.rows,
        "samples": samples,
        "merge_cpu_s": round(merging, 2),
        "bytes_per_event": {"sqlite": round(sqlite_bytes, 1), "clickhouse": round(bytes_each, 1)},
        "clickhouse_bytes": stored,
        "version": engine.about.get("version"),
    }
    (ROOT / ".build/bench-cluster.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Skipped as skipped:
        print(skipped, file=sys.stderr)
        sys.exit(77)
