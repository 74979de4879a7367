"""A Waybill client for servers. It records each request of a transaction as one set, and sends it in the background."""
import contextlib, json, logging, queue, re, tempfile, threading, time, urllib.request

GUID = '"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"'
PARAMETER = r'; *([a-z*][a-z0-9_.*-]*)(?:=(%?"(?:[^"\\]|\\.)*"|[^\s;,"]+))?'
FIELD = re.compile(rf" *{GUID}((?:{PARAMETER})*) *")
KNOWN = re.compile(rf"(-?[0-9]{{1,15}})(?: {GUID}(?: (0*[1-9][0-9]{{,14}}))?)?")  # the values of `u`, `s` and `n`
warn = logging.getLogger("waybill").warning

class Waybill:
    def __init__(self, collector, source, use_cases, headers, folder=None, capacity=1_000, pause=1):
        self.url, self.source, self.use_cases, self.headers = f"{collector}/v1/sets", source, use_cases, headers
        self.folder, self.queue, self.refused, self.pause = folder, queue.Queue(capacity), 0, pause
        self.ended, self.thread = threading.Event(), threading.Thread(target=self._deliver)
        self.thread.start()

    @contextlib.contextmanager
    def join(self, field, method, path):
        """Yields a function that records a fact, and a dictionary for the members of `exchange_finished`."""
        item = FIELD.fullmatch(field)
        values = dict(re.findall(PARAMETER, item[2])) if item else {}
        known = KNOWN.fullmatch(" ".join(values[name] for name in "usn" if name in values))
        start, wall, facts, response, outcome = time.monotonic_ns(), time.time_ns() // 1000, [], {}, "failed"
        def record(kind, **members):
            facts.append({"kind": kind, "at_us": (time.monotonic_ns() - start) // 1000, **members})
        if known:
            cause = {"cause": {"source": known[2], "sequence": int(known[3])}} if known[3] else {}
            record("joined", transaction=item[1], use_case=int(known[1]), **cause)
        record("exchange_begun", role="server", method=method[:256], path=path.partition("?")[0][:4096])
        try:
            yield record, response
            outcome = "succeeded" if response.get("status", 500) < 500 else "failed"
        finally:
            record("exchange_finished", **(response or {"state": "failed"}))
            record("finished", outcome=outcome)
            source = {**self.source, "clocks": [{"at_us": 0, "offset_us": wall}], "facts": facts}
            if known and int(known[1]) in self.use_cases:
                self._add(json.dumps({"sources": [source]}, default=str).encode())

    def _add(self, body):
        try:
            self.queue.put_nowait(body)
        except queue.Full:
            self.refused += 1
            warn("The queue is full, and has refused %d sets.", self.refused)

    def _deliver(self):
        down = False
        for body in iter(self.queue.get, None):
            request, status, pause = urllib.request.Request(self.url, body, self.headers), 0, self.pause
            while not status and not (down and self.ended.wait(pause)):
                try:
                    with urllib.request.urlopen(request, timeout=10) as answer:
                        receipt = json.load(answer)
                    for fact in receipt.get("rejected", []):
                        warn("The collector rejected a fact: %s", fact)
                    status = 200 if "accepted" in receipt else 0
                except Exception as problem:  # no connection, another status, or no receipt
                    code = getattr(problem, "code", 0)
                    status = code if code in (400, 413, 415, 422) else 0  # A retry can't help after one of these.
                    warn("The collector has not accepted a set: %s", problem)
                down, pause = not status, min(2 * pause, 60)
            if status != 200 and self.folder:
                with tempfile.NamedTemporaryFile(suffix=".json", dir=self.folder, delete=False) as file:
                    file.write(body)

    def close(self):
        """Sends the queued sets. After the next failure, the others become files."""
        self.ended.set()
        self.queue.put(None)
        self.thread.join()
