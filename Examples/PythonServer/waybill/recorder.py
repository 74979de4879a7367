"""Facts, numbered and kept until a collector has them: Schemas/fact.v1.schema.json and Schemas/transaction-set.v1.schema.json."""

import math
import platform
import secrets
import threading
import time
import uuid
from collections import deque
from itertools import islice

from .header import TransactionHeader

INTEGER_LIMIT = 2**53 - 1
DAY_US = 86_400_000_000


def uptime_us() -> int:
    """Microseconds of a clock that never goes back and does not stop while the machine sleeps, where there is one."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return (time.monotonic_ns() if boot is None else time.clock_gettime_ns(boot)) // 1000


class Recorder:
    """One source: a run of one process. After a fork it has to be made anew, in the child.

    Safe on any thread, and nothing here waits for the disk or the network. Never raises because of what is recorded.
    """

    def __init__(self, app: str, version: str, names: dict[int, tuple[str, dict[int, str]]], capacity: int = 100_000):
        """
        names: what the codes are called: {use case: (its name, {event: its name})}
        capacity: how many facts may wait for a collector; further ones are refused, and counted
        """
        self.source = str(uuid.uuid4())
        self.malformed_headers = 0
        self._description = {
            # The ID is in every header field that a request carries: the secret shows that a set is of this process.
            "source": self.source, "source_proof": secrets.token_hex(32), "app": app, "app_version": version, "device": platform.machine(),
            "os": platform.system(), "os_version": platform.release().split("-")[0],
            "names": [entry for code, (name, events) in names.items() for entry in [
                {"use_case": code, "name": name},
                *({"use_case": code, "event": event, "name": text} for event, text in events.items()),
            ]],
        }  # fmt: skip
        self._capacity = capacity
        self._lock = threading.Lock()
        self._start = uptime_us()
        self._clocks = [{"at_us": 0, "offset_us": time.time_ns() // 1000}]
        self._recorded = self._delivered = self._refused = 0
        self._pending: deque[dict] = deque()
        self._quarantine: list[dict] = []

    def join(self, header: str | None, use_case: int, method: str, path: str) -> "Part":
        """Joins the transaction of a request; without a valid header field, a part that records nothing: health probes leave no trace.

        header: the value of the field `Waybill-Transaction`
        use_case: what the request is about by the server's account, which wins over the sender's
        path: without the query, which may hold secrets
        """
        told = TransactionHeader.parse(header)
        if told is None:
            if header is not None:
                with self._lock:
                    self.malformed_headers += 1
            return Part(self, None)
        opened = {"transaction": told.transaction, "use_case": use_case, "joined": True, "timeout_us": DAY_US}
        if told.exchange is not None:
            opened["cause"] = {"source": told.source, "sequence": told.exchange}
        part = Part(self, self.record("opened", None, opened))
        part.open_exchange(method, path)
        return part

    def record(self, kind: str, part: int | None, members: dict) -> int | None:
        """Takes a fact and gives its sequence; None where it was refused. `part` is None for an opening, which is its own part."""
        with self._lock:
            # What was opened can always be closed: there are no more of those than requests under way.
            if kind not in ("closed", "exchange_closed") and len(self._pending) + len(self._quarantine) >= self._capacity:
                self._refused += 1
                return None
            self._recorded += 1
            sequence = self._recorded
            at = max(0, uptime_us() - self._start)
            self._pending.append({"kind": kind, "sequence": sequence, "part": part or sequence, "at_us": at, **members})
            return sequence

    def ledger(self) -> dict[str, int]:
        """What became of the facts: recorded = delivered + quarantined + pending, always."""
        with self._lock:
            return self._ledger()

    def _ledger(self) -> dict[str, int]:
        return {
            "recorded": self._recorded, "delivered": self._delivered, "quarantined": len(self._quarantine),
            "pending": len(self._pending), "refused": self._refused,
        }  # fmt: skip

    def next_set(self, limit: int, has_ended: bool = False) -> dict | None:
        """The oldest facts that no collector has confirmed, as a set; None when there are none. They stay pending."""
        with self._lock:
            facts = list(islice(self._pending, limit))
            if not facts:
                return None
            self._anchor()
            source = self._description | {"clocks": list(self._clocks), "ledger": self._ledger(), "facts": facts}
            if has_ended and len(facts) == len(self._pending):
                source["ended"] = True
            return {"set": str(uuid.uuid4()), "sources": [source]}

    def settle(self, sent: dict, receipt: dict) -> list[dict]:
        """Books a receipt: what it rejects goes to quarantine, all else is delivered. Returns the rejections."""
        count = len(sent["sources"][0]["facts"])
        rejections = {rejection["index"]: rejection for rejection in receipt.get("rejected", [])}
        with self._lock:
            facts = [self._pending.popleft() for _ in range(count)]
            self._quarantine += [fact for index, fact in enumerate(facts) if index in rejections]
            self._delivered += count - len(rejections)
        return list(rejections.values())

    def _anchor(self) -> None:
        """Notes the wall clock again when it went another way than the source's own, by more than 100 ms."""
        at = max(0, uptime_us() - self._start)
        offset = time.time_ns() // 1000 - at
        latest = self._clocks[-1]
        if abs(offset - latest["offset_us"]) > 100_000 and at > latest["at_us"]:
            self._clocks.append({"at_us": at, "offset_us": offset})


class Part:
    """A server's share in one transaction, for as long as one request lasts: a context manager."""

    def __init__(self, recorder: Recorder, sequence: int | None):
        self._recorder = recorder
        self._sequence = sequence  # None: outside any transaction, or refused; nothing is recorded
        self._exchange: int | None = None
        self._answer: dict = {}

    def log(self, event: int, **attributes) -> None:
        """Records an event by its code."""
        members = {"event": event}
        if attributes:
            members["attributes"] = {text(name, 128): value_of(value) for name, value in list(attributes.items())[:32]}
        self._record("event", members)

    def answered(self, status: int, request_bytes: int, response_bytes: int) -> None:
        """Notes what the request was answered with."""
        self._answer = {"status": status, "sent_bytes": request_bytes, "received_bytes": response_bytes}

    def open_exchange(self, method: str, path: str) -> None:
        self._exchange = self._record("exchange_opened", {"role": "server", "method": text(method, 256), "path": text(path, 4096)})

    def __enter__(self) -> "Part":
        return self

    def __exit__(self, _, error: BaseException | None, __) -> None:
        """Closes the part by the answer's status. It never decides the transaction: that is the word of whoever began it."""
        reason = {}
        if error is not None:  # its words may hold secrets, so only which and its number
            code = getattr(error, "errno", None)
            reason["error"] = {"domain": f"python.{type(error).__name__}"[:256], "code": code if isinstance(code, int) else 0}
        if self._exchange is not None:
            state = "completed" if "status" in self._answer else "failed"
            self._record("exchange_closed", {"exchange": self._exchange, "state": state, **self._answer, **reason})
        failed = error is not None or self._answer.get("status", 500) >= 500
        self._record("closed", {"outcome": "failed" if failed else "succeeded", **reason})

    def _record(self, kind: str, members: dict) -> int | None:
        return None if self._sequence is None else self._recorder.record(kind, self._sequence, members)


def text(value: object, limit: int) -> str:
    """A string that every JSON reader takes, within a schema's limit."""
    return str(value).encode("utf-8", "replace").decode()[:limit]


def value_of(value: object) -> str | int | float | bool:
    """An attribute's value that the schema allows: what is no small value becomes its text."""
    is_number = isinstance(value, (int, float)) and math.isfinite(value) and abs(value) <= INTEGER_LIMIT
    return value if isinstance(value, bool) or is_number else text(value, 1024)
