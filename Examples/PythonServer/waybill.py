"""A Waybill client for servers: it writes each request of a transaction as one set into a file."""
import contextlib, datetime, json, logging, os, pathlib, re, tempfile, time

GUID = '"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"'
PARAMETER = r'; *([a-z*][a-z0-9_.*-]*)(?:=(%?"(?:[^"\\]|\\.)*"|[^\s;,"]+))?'
KNOWN = rf"(-?[0-9]{{1,15}})(?: {GUID}(?: (0*[1-9][0-9]{{,14}}))?)?"  # u, s and n

@contextlib.contextmanager
def join(field, method, path, source, use_cases, folder):
    """Yields a function that records a fact, and a dictionary for what the response is."""
    item = re.fullmatch(rf" *{GUID}((?:{PARAMETER})*) *", field)
    values = dict(re.findall(PARAMETER, item[2])) if item else {}
    known = re.fullmatch(KNOWN, " ".join(values[name] for name in "usn" if name in values))
    facts, response, outcome = [], {}, "failed"
    def record(kind, **members):
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        facts.append({"kind": kind, "at": now, **members})
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
        if known and int(known[1]) in use_cases:
            keep({"sources": [{**source, "facts": facts}]}, len(facts), folder)

def keep(body, fact_count, folder, limit=1_000):
    """Writes a file, whose name other programs see only once it is whole."""
    try:
        if len(os.listdir(folder)) >= limit:
            raise OSError(f"{folder} has {limit} files that are not delivered")
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f"{time.time_ns()}-") as file:
            pathlib.Path(file.name).write_text(json.dumps(body, default=str))
            os.link(file.name, f"{file.name}.json")
    except Exception as problem:
        logging.getLogger("waybill").warning("%d facts are lost: %s", fact_count, problem)
