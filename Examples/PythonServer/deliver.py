"""Sends the sets that `waybill.py` writes to a collector, and deletes what the collector has."""
import json, logging, urllib.error, urllib.request

warn = logging.getLogger("waybill").warning

def deliver(folder, collector, headers, ended, pause=1):
    """Sends every `pause` seconds until the event `ended` is set, and once more then."""
    wait, running = pause, True
    while running:
        running = not ended.wait(wait)
        try:
            send_all(folder, collector, headers)
            wait = pause
        except Exception as problem:  # no connection, another status, no receipt, or no such file
            warn("Not all sets are delivered: %s", problem)
            wait = min(2 * wait, 60)

def send_all(folder, collector, headers):
    for file in sorted(folder.glob("*.json")):
        request = urllib.request.Request(f"{collector}/v1/sets", file.read_bytes(), headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                receipt = json.load(answer)
        except urllib.error.HTTPError as problem:
            if problem.code not in (400, 413, 415, 422):
                raise
            warn("The collector refused %s: %s", file, problem)  # A retry can't help.
            file.rename(f"{file}.refused")
            continue
        for fact in receipt.get("rejected", []):
            warn("The collector rejected a fact: %s", fact)
        if "accepted" not in receipt:
            raise ValueError(f"{collector} did not answer with a receipt. Is it a collector?")
        file.unlink()
