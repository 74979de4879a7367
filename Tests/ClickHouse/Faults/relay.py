"""What stands between a door and a node of ClickHouse: it counts what writes, and does something at one of them."""

import sys
import threading
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from forwarding import Forwarder, Forwarding  # noqa: E402

WRITES = (b"INSERT", b"ALTER", b"DELETE", b"UPDATE", b"OPTIMIZE")
PATIENCE = 60  # seconds until a write that is held goes on
LOSE = "lose"  # what `Watch.before` and `after` say where the answer is not to arrive


class Watch:
    """Sees every write of a door, whichever node it goes to; to be overridden."""

    def before(self, number):
        """The write has come, the `number`th from 1, and is not with the node yet."""

    def after(self, number):
        """The node has answered, and the door does not know it yet."""


class At(Watch):
    """Does something once, before or after a certain write, whose answer does not arrive."""

    def __init__(self, number, when, action):
        self.number, self.when, self.action, self.has_happened = number, when, action, False

    def before(self, number):
        return self.happen() if self.when == "before" and number == self.number else None

    def after(self, number):
        return self.happen() if self.when == "after" and number == self.number else None

    def happen(self):
        self.has_happened = True
        self.action()
        return LOSE


class Hold(Watch):
    """Keeps a certain write from its node while its door hangs, until both are let go."""

    def __init__(self, number, door):
        self.number, self.door, self.reached, self.gone = number, door, threading.Event(), threading.Event()

    def before(self, number):
        if number == self.number:
            self.door.pause()
            self.reached.set()
            self.gone.wait(PATIENCE)

    def let_go(self):
        self.gone.set()
        self.door.resume()


class Losing(Watch):
    """Loses answers of writes that were done, by chance."""

    def __init__(self, chance, share):
        self.chance, self.share, self.lost = chance, share, 0

    def after(self, number):
        if self.chance.random() < self.share:
            self.lost += 1
            return LOSE


class Relays:
    """One relay for each node, for one door."""

    def __init__(self, ports):
        self.watch, self.writes, self.lock = Watch(), 0, threading.Lock()
        self.servers = [self.serve(port) for port in ports]
        self.ports = [server.port for server in self.servers]

    def set(self, watch):
        """From now on writes are counted from 1 again."""
        with self.lock:
            self.watch, self.writes = watch or Watch(), 0

    def count(self, query):
        if not query.lstrip().upper().startswith(WRITES):
            return None, None
        with self.lock:
            self.writes += 1
            return self.watch, self.writes

    def serve(self, port):
        relays = self

        class Handler(Forwarding):
            def relay(self):
                body = self.body()
                parameters = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                watch, number = relays.count(parameters["query"][0].encode() if "query" in parameters else body[:200])
                if watch and watch.before(number) == LOSE:
                    return False
                answer, whole = self.ask(f"127.0.0.1:{port}", body)
                if watch and watch.after(number) == LOSE:
                    return False
                self.reply(answer, whole)
                return True

        return Forwarder(Handler)

    def close(self):
        for server in self.servers:
            server.close()
