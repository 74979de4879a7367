"""Measures one ClickHouse beside SQLite on the same events. Run by `make bench-cluster`.

A store in SQLite is filled once for each number of events, and kept in .build/bench-store: `move` stands beside what
it took to take these in, and copies it to one ClickHouse of the current version (chDB). Then the command line asks both
the same. Seconds are those of processors, of the command and of the server while it worked for it, but `seconds`, which
are a clock's. Memory is the command's; rows and bytes are those that the server read, before compression. Answers that
differ give no figure, nor does a command that writes into its temporary folder. In the end some questions are asked
about one in a hundred transactions, and how far off their counts are stands beside the margin that the answer says.
Each command is a process of its own, which begins with nothing.

Then a collector takes in sets: as fast as it can, and at a steady pace, while rows are looked for that are not made yet.
`--shards` asks the questions of two shards of ClickHouse 18.16 instead, and prints what each of them reads.

Prints which limits are met, and writes .build/bench-cluster-EVENTS.json. Other numbers of events are compared with a
million, if that was measured before.
"""

import argparse
import json
import os
import shutil
import random
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engines import ROOT, Engine, Skipped

sys.path.insert(0, str(Path(__file__).resolve().parent / "Faults"))
import doors  # noqa: E402
import histories  # noqa: E402

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
LOOKS = ["list", "lists", "show", "recent", "export"]
# Lists of 50, for `lists`: common, rare and absent values, words and ranges.
LISTS = [
    "", "sort:oldest", "sort:longest", "sort:shortest", "outcome:failed", "outcome:cancelled", "outcome:open", "event:requestSent",
    "-event:responseReceived", "event:serverAccepted outcome:failed", "error:*", "error:Timeout", "-error:*", "took>2s",
    "took<1ms", "attribute:variant=B", "attribute:variant=none", "attribute:nowhere", "status:500-599", "exchange:failed",
    "login", "requestSent", "zebra", "since:1h", "until:2020-01-01", "oneIn:100", "version:1.0", "-os:Linux",
    "sampled:chosen", "parent:known",
]
# By what says how many transactions there are.
SAMPLED = {
    "summary": lambda answer: sum(each["runs"] for each in answer["use_cases"]),
    "duration": lambda answer: answer["total"]["statistics"]["count"],
}
SAMPLE = 100
LIMIT = 3600  # seconds for one command
FACTS = 100_000  # that are sent at a steady pace, and before that as fast as possible
PACE = 5_000  # facts a second
EPOCH, PLACES = 1_767_225_600, 512 * 10_000  # the start of 2026, and places a second: how collectors number changes
OUTDATED = "FROM changed WHERE place IN (SELECT place FROM changed GROUP BY place HAVING countIf(state = 2) = 0)"


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

    def __init__(self, *command, statuses=(0,)):
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
        if process.returncode not in statuses:
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
    """What a server has done since the last time it was asked for: seconds of processors, rows and bytes that it read."""

    def __init__(self, engine):
        self.engine, self.last = engine, (0.0, 0, 0)
        self.spent()

    def spent(self):
        pid = self.engine.nodes["1.1"]["pid"]
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        events = "SELECT event, value FROM system.events WHERE event IN ('SelectedRows', 'SelectedBytes')"
        read = dict(line.split("\t") for line in self.engine.post(events).decode().splitlines())
        now = (seconds, int(read.get("SelectedRows", 0)), int(read.get("SelectedBytes", 0)))
        spent = tuple(after - before for before, after in zip(self.last, now))
        self.last = now
        return spent


class Report:
    def __init__(self):
        self.rows = []
        heads = ["SQLite", "client", "server", "ratio", "seconds", "MB memory", "rows read", "MB read"]
        print(" " * 14 + "".join(f"{head:>{max(8, len(head) + 2)}}" for head in heads), flush=True)

    def add(self, name, sqlite, other, server):
        if other.disk:
            sys.exit(f"{name} has written {other.disk} bytes into its temporary folder.")
        seconds, rows, read = server
        row = {
            "name": name,
            "sqlite_cpu_s": round(sqlite, 3),
            "client_cpu_s": round(other.cpu, 3),
            "server_cpu_s": round(seconds, 3),
            "ratio": round((other.cpu + seconds) / sqlite, 2),
            "wall_s": round(other.wall, 2),
            "client_memory_bytes": other.memory,
            "server_rows": rows,
            "server_bytes": read,
        }
        self.rows.append(row)
        print(
            f"{name:14}{sqlite:8.2f}{other.cpu:8.2f}{seconds:8.2f}{row['ratio']:8.1f}{other.wall:9.1f}"
            f"{other.memory / 1e6:11.0f}{rows:11}{read / 1e6:9.1f}",
            flush=True,
        )


class Feed:
    """Sets of many apps for a collector, and when rows were made of them."""

    def __init__(self, facts):
        self.bodies, self.facts, chance = [], 0, random.Random(7)
        while self.facts < facts:
            history = histories.History(180, chance, per_set=20)
            self.facts += len(history.facts)
            self.bodies += [(json.dumps(each), len(each["sources"][0]["facts"])) for each in history.sets]
        chance.shuffle(self.bodies)

    def send(self, door, pace=None):
        """Sends all, and returns the seconds until all were acknowledged. `pace` is in facts a second."""
        begun, due, sent = time.monotonic(), [], 0
        for _, facts in self.bodies:
            due.append(sent / pace if pace else 0)
            sent += facts

        def one(body, at):
            time.sleep(max(0, begun + at - time.monotonic()))
            door.ask("POST", "/v1/sets", body[0], {"Content-Type": doors.MEDIA_TYPE})

        with ThreadPoolExecutor(64) as pool:
            list(pool.map(one, self.bodies, due))
        return time.monotonic() - begun


def until_made(ask, seconds=300):
    """Waits until no row is outdated."""
    end = time.monotonic() + seconds
    while int(ask(f"SELECT count() {OUTDATED}")):
        if time.monotonic() > end:
            sys.exit("Rows stay outdated.")
        time.sleep(0.25)


def served(engine, waybill, address, server):
    """What a collector takes to take in sets, and how old outdated rows are at most, 99 of 100 times."""
    doors.WAYBILL = waybill

    def ask(query):
        return engine.post(query, database="bench").decode().strip()

    folder = Path(tempfile.mkdtemp(prefix="bench-cluster-"))
    door = doors.Door(address, folder).start()
    try:
        until_made(ask)
        fast, begun = Feed(FACTS), time.monotonic()
        fast.send(door)
        until_made(ask)
        rate = fast.facts / (time.monotonic() - begun)
        steady, over, ages = Feed(FACTS), threading.Event(), []

        def look():
            while not over.wait(0.25):
                oldest = int(ask(f"SELECT min(place) {OUTDATED}") or 0)
                ages.append(max(0, time.time() - EPOCH - oldest / PLACES) if oldest else 0)

        commits = int(ask("SELECT count() FROM commits"))
        server.spent()
        looker = threading.Thread(target=look)
        looker.start()
        wall = steady.send(door, PACE)
        over.set()
        looker.join()
        until_made(ask)
        seconds, rows, _ = server.spent()
        commits = int(ask("SELECT count() FROM commits")) - commits
    finally:
        door.kill()
        shutil.rmtree(folder, ignore_errors=True)
    lag = sorted(ages)[int(len(ages) * 0.99)]
    print(f"\nA collector takes in {rate:.0f} facts a second, rows included.")
    print(f"At {steady.facts / wall:.0f} facts a second, rows are {lag:.2f} s late at most, 99 of 100 times.")
    print(f"The server reads {rows / commits:.0f} rows for each of {commits} commits, and needs {seconds / steady.facts * 1e6:.0f} µs a fact.")
    return {"facts_per_s": round(rate), "lag_p99_s": round(lag, 3), "rows_per_commit": round(rows / commits), "commits": commits}


def sharded(waybill, folder):
    """The share of what two shards read that each of them reads, for each question, in marks of 512 rows."""

    def marks(engine):
        query = "SELECT value FROM system.events WHERE event = 'SelectedMarks'"
        read = {node: int(engine.post(query, node=node).strip() or 0) for node in engine.nodes}
        return [sum(value for node, value in read.items() if node.startswith(f"{shard}.")) for shard in (1, 2)]

    with Engine("cluster") as engine:
        first, *others = (f"127.0.0.1:{port}" for port in engine.ports)
        address = f"clickhouse://{first}/bench?replicas={','.join(others)}&cluster=waybill&quorum=2"
        Watched(waybill, "migrate", address)
        Watched(waybill, "move", folder, address)
        for table in ("facts_local", "transactions_local"):
            print(table, [int(engine.post(f"SELECT count() FROM bench.{table}", node=f"{shard}.1")) for shard in (1, 2)])
        print(f"{'':14}{'shard 1':>10}{'shard 2':>10}")
        for name, options in QUESTIONS.items():
            before = marks(engine)
            there = Watched(waybill, "ask", name, address, "--json", *options)
            if there.output != Watched(waybill, "ask", name, folder, "--json", *options).output:
                sys.exit(f"{name}: SQLite and ClickHouse do not say the same.")
            read = [after - earlier for earlier, after in zip(before, marks(engine))]
            print(f"{name:14}" + "".join(f"{each / sum(read):10.1%}" for each in read), flush=True)


def verdicts(result):
    """The limits of the acceptance that one server on this machine can meet."""
    rows, lists, taken = result["rows"], result["lists"], result["served"]
    asked = [row for row in rows if row["name"] in QUESTIONS or row["name"] == "recent"]
    limits = [
        ("each question takes at most SQLite's processor seconds", {row["name"]: row["ratio"] for row in asked}, 1),
        ("a command has at most 200 MB", {row["name"]: row["client_memory_bytes"] / 1e6 for row in rows}, 200),
        ("`show` reads at most 100,000 rows", {row["name"]: row["server_rows"] for row in rows if row["name"] == "show"}, 1e5),
        ("95 of 100 lists are there within 100 ms", {"lists": lists["p95_s"] * 1000} if lists else {}, 100),
        ("a list reads at most a million rows", {"lists": lists["rows"]} if lists else {}, 1e6),
        ("rows are less than 2 s late", {"served": taken["lag_p99_s"]} if taken else {}, 2),
        ("a fact takes at most 100 µs", {"served": 1e6 / taken["facts_per_s"]} if taken else {}, 100),
    ]
    before = ROOT / ".build/bench-cluster-1000000.json"
    if result["events"] > 2_000_000 and before.exists():
        million = json.loads(before.read_text())

        def seconds(result):
            return {row["name"]: (row["client_cpu_s"] + row["server_cpu_s"]) / result["events"] for row in result["rows"]}

        earlier, later = seconds(million), seconds(result)
        growth = {row["name"]: later[row["name"]] / earlier[row["name"]] for row in asked if row["name"] in earlier}
        limits.append(("a question takes at most 1.2 times the seconds an event of a million", growth, 1.2))
        if taken and million["served"]:
            growth = {"served": taken["rows_per_commit"] / million["served"]["rows_per_commit"]}
            limits.append(("a commit reads at most 1.2 times the rows at a million", growth, 1.2))
    print()
    for words, figures, limit in limits:
        beyond = {name: round(figure, 1) for name, figure in figures.items() if figure > limit}
        print(f"{'not met' if beyond else 'met':8}{words}" + (f": {beyond}" if beyond else ""))


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
    arguments.add_argument("--shards", action="store_true", help="ask two shards, and print what each of them reads")
    arguments = arguments.parse_args()
    products = ROOT / ".build/release"
    waybill = Path(os.environ.get("WAYBILL", products / "waybill-cli"))
    benchmarks = Path(os.environ.get("BENCHMARKS", products / "Benchmarks"))
    chosen = arguments.rows.split(",") if arguments.rows else [*LOOKS, *QUESTIONS, "verify", "served"]
    folder, made = filled(arguments.events, benchmarks)
    if arguments.shards:
        return sharded(waybill, folder)
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


def listed(waybill, folder, address, server, report):
    """All lists, one after the other: what they take together, and how long a person waits for one beside another command."""
    begun = min(Watched(waybill, "--version").wall for _ in range(5))
    sqlite, whole, waits, most, memory = 0.0, [0.0, 0, 0], [], 0, []
    for text in LISTS:
        words = ["--json", "--", text] if text else ["--json"]
        # An empty list ends with 1.
        here = Watched(waybill, "list", folder, *words, statuses=(0, 1))
        server.spent()
        there = Watched(waybill, "list", address, *words, statuses=(0, 1))
        spent = server.spent()
        if here.output != there.output and json.loads(here.output)["rows"] != json.loads(there.output)["rows"]:
            sys.exit(f"list {text}: SQLite and ClickHouse do not say the same.")
        sqlite += here.cpu
        whole = [sum(pair) for pair in zip(whole, spent)]
        waits.append(there.wall - begun)
        most = max(most, spent[1])
        memory.append(there)
    slowest = max(memory, key=lambda each: each.memory)
    slowest.cpu, slowest.wall = sum(each.cpu for each in memory), sum(waits)
    report.add("lists", sqlite, slowest, whole)
    p95 = sorted(waits)[int(len(waits) * 0.95)]
    print(f"{'':14}{len(LISTS)} lists: p50 {sorted(waits)[len(waits) // 2] * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms; at most {most} rows")
    return {"p95_s": round(p95, 3), "rows": most}


def measure(engine, waybill, folder, made, chosen):
    address = f"clickhouse://127.0.0.1:{engine.ports[0]}/bench"
    server = Server(engine)
    Watched(waybill, "migrate", address)
    report = Report()
    server.spent()
    report.add("move", made["cpuSeconds"], Watched(waybill, "move", folder, address), server.spent())
    engine.post("OPTIMIZE TABLE bench.facts FINAL")
    merging = server.spent()[0]
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
    lists, taken = None, None
    for name in chosen:
        if name == "served":
            continue  # it adds to the data, so it is the last one
        if name == "lists":
            lists = listed(waybill, folder, address, server, report)
            continue

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
    if "served" in chosen:
        taken = served(engine, waybill, address, server)
    result = {
        **made,
        "rows": report.rows,
        "lists": lists,
        "served": taken,
        "samples": samples,
        "merge_cpu_s": round(merging, 2),
        "bytes_per_event": {"sqlite": round(sqlite_bytes, 1), "clickhouse": round(bytes_each, 1)},
        "clickhouse_bytes": stored,
        "version": engine.about.get("version"),
    }
    about = ROOT / f".build/bench-cluster-{folder.name.removeprefix('timed-')}.json"
    about.write_text(json.dumps(result, indent=2) + "\n")
    verdicts(result)


if __name__ == "__main__":
    try:
        main()
    except Skipped as skipped:
        print(skipped, file=sys.stderr)
        sys.exit(77)
