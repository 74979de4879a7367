"""`make demo-cluster`: logins through client and server, delivered to three collectors before a ClickHouse cluster.

In the middle one collector and one replica are killed; the replica comes back, the collector does not. In the end what
client and server have in their own stores and what each collector that is left says has to agree, number by number.
"""

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "Tests/ClickHouse")]
from engines import Engine, Skipped  # noqa: E402
from proxy import Proxy  # noqa: E402

PRODUCTS = ROOT / ".build/debug"
FOLDER = ROOT / ".build/demo-cluster"


class Child:
    """A process of the demo; its standard error goes into a log in the demo's folder."""

    every = []

    def __init__(self, product, *words, log, **environment):
        with open(FOLDER / f"{log}.log", "wb") as errors:
            self.process = subprocess.Popen(
                [PRODUCTS / product, *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | environment,
            )
        self.log = log
        Child.every.append(self)

    def address(self):
        for line in self.process.stdout:
            if line.startswith("listening on "):
                return line.split()[-1].removeprefix("http://")
        raise SystemExit(f"demo-cluster: {self.log} ended before it listened; see {FOLDER}/{self.log}.log")

    def stop(self):
        self.process.terminate()
        if self.process.wait(60):
            raise SystemExit(
                f"demo-cluster: {self.log} ended with {self.process.returncode}; see {FOLDER}/{self.log}.log"
            )


def waybill(*words):
    done = subprocess.run(
        [PRODUCTS / "waybill-cli", *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode:
        raise SystemExit(f"demo-cluster: waybill {words[0]}: {done.stderr}")
    return done.stdout


def get(address, path, body=None):
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("POST" if body else "GET", path, body, {"Content-Type": "application/json"} if body else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"demo-cluster: {address}{path} was answered with {answer.status}: {text[:300]}")
    return text


def pages(address, path):
    """All rows of a list."""
    rows, cursor = [], ""
    while cursor is not None:
        page = json.loads(get(address, f"{path}?limit=500" + (f"&after={cursor}" if cursor else "")))
        rows += page["rows"]
        cursor = page.get("next")
    return rows


def said_by(address):
    """The numbers that have to agree, as a collector reports them."""
    rows = pages(address, "/v1/transactions")
    sources = pages(address, "/v1/sources")
    outcomes = {}
    for row in rows:
        outcomes[row["outcome"]] = outcomes.get(row["outcome"], 0) + 1
    answer = json.loads(get(address, "/v1/answers", json.dumps({"question": "summary", "filter": {"use_case": 0}})))
    return {
        "logins": len(rows),
        "outcomes": outcomes,
        "outcomes of the summary": {
            name: number for case in answer["use_cases"] for name, number in case["outcomes"].items()
        },
        "merged from client and server": sum(row["source_count"] == 2 for row in rows),
        "facts received": sum(source["ledger"]["delivered"] for source in sources),
        "gaps": sum(len(source["gaps"]) for source in sources),
    }


def said_by_stores(runs):
    """The same, as client and server have it in their own stores."""
    collector = Child("waybill-cli", "serve", FOLDER / "client", "--port", "0", "--insecure", log="client-store")
    client = said_by(collector.address())
    collector.stop()
    if client["logins"] != runs:
        raise SystemExit(f"demo-cluster: the client's store has {client['logins']} of {runs} logins")
    facts = {
        name: [json.loads(line) for line in waybill("export", FOLDER / name).splitlines()]
        for name in ("client", "server")
    }
    begun, joined = [
        {fact["transaction_id"] for fact in facts[name] if "transaction_id" in fact} for name in ("client", "server")
    ]
    return client | {
        "merged from client and server": len(begun & joined),
        "facts received": sum(map(len, facts.values())),
        "gaps": 0,
    }


def shows_merged(address, rows):
    """Whether the inspector has a page for a login of both, with both on it."""
    merged = next(row for row in rows if row["source_count"] == 2 and row["outcome"] == "succeeded")
    page = get(address, f"/transactions/{merged['id']}")
    return "login-client" in page and "login-server" in page and merged["id"] in get(address, "/transactions")


def main():
    arguments = argparse.ArgumentParser(prog="demo-cluster", description=__doc__)
    arguments.add_argument("--runs", type=int, default=200, help="logins")
    arguments.add_argument("--keep", action="store_true", help="leave it all running until Enter is pressed")
    arguments = arguments.parse_args()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    began = time.monotonic()
    try:
        engine = Engine("cluster")
    except Skipped as reason:
        return print(f"demo-cluster is skipped: {reason}")
    with engine:
        for node in engine.nodes.values():
            print(
                f"ClickHouse  127.0.0.1:{node['http']}  shard {node['shard']}, replica {node['replica']}"
                f"  (process {node['pid']})"
            )
        play(engine, arguments)
        print(f"\nEvery count agrees. {time.monotonic() - began:.0f} s")
        if arguments.keep:
            input("It runs on; Enter ends it. ")


def return_later(engine, proxy):
    """Starts the replica once deliveries have met its absence, or after ten seconds."""
    before, end = sum(proxy.answered.values()), time.monotonic() + 10
    while sum(proxy.answered.values()) < before + 3 and time.monotonic() < end:
        time.sleep(0.1)
    engine.do("start 1.2")
    print("            the replica is back")


def play(engine, arguments):
    servers = [f"127.0.0.1:{port}" for port in engine.ports]

    def place(first):  # each collector begins with another server
        turned = servers[first:] + servers[:first]
        others = ",".join(turned[1:])
        return f"clickhouse://default@{turned[0]}/waybill?replicas={others}&cluster={engine.about['cluster']}"

    waybill("migrate", place(0))
    collectors = [
        Child("waybill-cli", "serve", place(number), "--port", "0", "--insecure", log=f"collector-{number + 1}")
        for number in range(3)
    ]
    proxy = Proxy([collector.address() for collector in collectors])
    for collector, address in zip(collectors, proxy.addresses):
        print(f"collector   http://{address}  (process {collector.process.pid})")
    print(f"proxy       http://{proxy.address}")
    url = f"http://{proxy.address}"
    server = Child("LoginServer", log="server", COLLECTOR=url, STORE=str(FOLDER / "server"))
    client = Child(
        "LoginClient",
        log="client",
        RUNS=str(arguments.runs),
        SERVER=f"http://{server.address()}",
        COLLECTOR=url,
        STORE=str(FOLDER / "client"),
    )

    done, dead = 0, None
    for line in client.process.stdout:
        done += line.startswith("done")
        if done == arguments.runs // 2 and dead is None:
            dead = proxy.addresses[1]
            collectors[1].process.kill()
            engine.do("kill 1.2")
            print(f"logins      {done}/{arguments.runs}; killed: collector http://{dead}, and replica 2 of shard 1")
            back = threading.Thread(target=return_later, args=(engine, proxy))
            back.start()
    if client.process.wait(120):
        raise SystemExit(f"demo-cluster: the client could not deliver all; see {FOLDER}/client.log")
    back.join()
    server.stop()
    print(f"logins      {done}/{arguments.runs}; answered by: {', '.join(map(str, proxy.answered.values()))}\n")

    expected = said_by_stores(arguments.runs)
    wrong = []
    for address in (proxy.addresses[0], proxy.addresses[2], proxy.address):
        found = said_by(address)
        wrong += [
            f"{address}: {what}: found {found[what]}, expected {expected[what]}"
            for what in expected
            if found[what] != expected[what]
        ]
        if not shows_merged(address, pages(address, "/v1/transactions")):
            wrong.append(f"{address}: the inspector does not show client and server of a login together")
    for what, number in expected.items():
        print(f"{what:31}{json.dumps(number, sort_keys=True)}")
    if wrong:
        raise SystemExit("demo-cluster: they do not agree.\n  " + "\n  ".join(wrong))
    proxy.close()


if __name__ == "__main__":
    try:
        main()
    finally:
        for child in Child.every:
            if child.process.poll() is None:
                child.process.kill()
