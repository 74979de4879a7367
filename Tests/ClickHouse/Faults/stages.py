"""Where cases are played: one collector with a folder, or doors before a ClickHouse, of one process or of a cluster."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from doors import WAYBILL, Door, Unavailable, until
from relay import Relays

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from engines import Engine  # noqa: E402
from engines import Skipped as NoEngine  # noqa: E402


class Skipped(Exception):
    """Why a case cannot be played on this stage."""


class Scene:
    """One case: a store that is empty, its doors, and what was sent."""

    def __init__(self, place, engine=None, database=None):
        self.place, self.engine, self.database = place, engine, database
        self.folder = Path(tempfile.mkdtemp(prefix="waybill-faults-"))
        self.doors, self.relays = [], []
        self.given = []  # the sets, in the order in which they were first sent: what the reference is made of
        self.problems = []

    def door(self, relayed=False):
        """One more door; of a folder there is only one, which serves it."""
        if not self.engine:
            if not self.doors:
                self.doors.append(Door(self.folder / "collected", self.folder).start())
            return self.doors[0]
        ports = self.engine.ports
        relays = Relays(ports) if relayed else None
        if relays:
            self.relays.append(relays)
        door = Door(self.place(relays.ports if relays else ports), self.folder, relays)
        self.doors.append(door)
        return door.start()

    def needs_inserts(self):
        if not self.engine:
            raise Skipped("a collector with a folder has no inserts to stand between")

    def needs_replicas(self):
        if not self.engine or len(self.engine.nodes) < 4:
            raise Skipped("there are no replicas to kill")

    def deliver(self, given, doors, chance):
        """Sends it to one door after another until it is acknowledged; the seconds that this took."""

        def attempt():
            receipt = chance.choice(doors).send(given)
            if receipt.get("rejected"):
                self.problems.append(f"facts were rejected: {json.dumps(receipt['rejected'])[:300]}")
            return receipt

        return until(attempt)[1]

    def give(self, given, doors, chance):
        """As `deliver`, of a set that the reference is to have, too."""
        self.given.append(given)
        return self.deliver(given, doors, chance)

    def reference(self, erased=()):
        """What one collector with one SQLite file says of the same sets: facts by source and sequence."""
        sent, store = self.folder / "sent", self.folder / "reference"
        shutil.rmtree(sent, ignore_errors=True)
        shutil.rmtree(store, ignore_errors=True)
        sent.mkdir()
        for number, given in enumerate(self.given):
            (sent / f"{number:05}.waybill-set.json").write_text(json.dumps(given))
        run("import", sent, "--to", store)
        if erased:
            run("erase", store, "--yes", *[word for transaction in erased for word in ("--id", transaction)])
        return {key(fact): fact for fact in map(json.loads, run("export", store).splitlines())}

    def close(self):
        for door in self.doors:
            if door.process.poll() is None:
                door.kill()
        for relays in self.relays:
            relays.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def run(*words):
    done = subprocess.run(
        [str(word) for word in (WAYBILL, *words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        raise RuntimeError(f"waybill {words[0]} ended with {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


def key(fact):
    return fact["source"], fact["sequence"]


class Folder:
    """One collector with one SQLite file: what shows that the counting is right, without a cluster."""

    name = "folder"

    def scene(self):
        return Scene(None)

    def close(self):
        pass


class ClickHouse:
    """`one` or `cluster` of Scripts/clickhouse-engines; a database for each case."""

    def __init__(self, name):
        self.name, self.engine = name, Engine(name)

    def scene(self):
        database = "waybill_" + os.urandom(4).hex()

        def place(ports):
            first, *others = [f"127.0.0.1:{port}" for port in ports]
            spread = f"?replicas={','.join(others)}&cluster={self.engine.about['cluster']}" if others else ""
            return f"clickhouse://default@{first}/{database}{spread}"

        def migrate():
            """A node that the case before had killed may still be starting."""
            try:
                run("migrate", place(self.engine.ports))
            except RuntimeError as error:
                raise Unavailable(str(error)) if "Try again" in str(error) else error

        until(migrate)
        return Scene(place, self.engine, database)

    def close(self):
        self.engine.__exit__()


def whole(stage):
    """After a case, nodes that it has left dead or hanging are there again for the next."""
    engine = getattr(stage, "engine", None)
    for name in engine.nodes if engine and len(engine.nodes) > 1 else []:
        for command in ("cont", "start"):
            try:
                engine.do(f"{command} {name}")
            except RuntimeError:
                pass  # it runs


__all__ = ["ClickHouse", "Folder", "NoEngine", "Scene", "Skipped", "Unavailable", "key", "whole"]
