"""A client that has nothing to do with an attack: sends a small set every 50 ms, each over a connection of its own, until
standard input ends, and then prints what it saw. A process of its own, so that what the attacker works on in Python is
not counted as its wait.

    innocent.py HOST:PORT SECONDS    the token, if there is one, is in TOKEN
"""
import http.client
import json
import os
import select
import sys
import time

from sets import APP, Recorder, guid, now

PAUSE = 0.05
REPEATED = {408, 429, 500, 502, 503, 504}  # after these, and where there was no answer, clients send a set again


def send(address, token, body, patience):
    """The status, and how many facts were rejected; status 0 where there was no answer."""
    headers = {"Content-Type": "application/vnd.waybill.transaction-set.v1+json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection = http.client.HTTPConnection(address, timeout=max(patience, PAUSE))
    try:
        connection.request("POST", "/v1/sets", body, headers)
        response = connection.getresponse()
        text = response.read()
        return response.status, len(json.loads(text).get("rejected", [])) if response.status == 200 else 0
    except (OSError, http.client.HTTPException):
        return 0, 0
    finally:
        connection.close()


def main(address, seconds):
    token, patience, recorder = os.environ.get("TOKEN"), float(seconds), Recorder(APP, now())
    report = {"sets": 0, "repeated": 0, "longest": 0.0, "lost": []}
    is_over = False
    while not is_over:
        at = now() - recorder.started
        recorder.open(at, guid(), 0)
        recorder.add(at + 1, "finished", outcome="succeeded")
        body, begun = json.dumps(recorder.set()), time.monotonic()
        while True:
            status, rejected = send(address, token, body, begun + patience - time.monotonic())
            waited = time.monotonic() - begun
            if status not in REPEATED and status != 0 or waited > patience:
                break
            report["repeated"] += 1
            time.sleep(PAUSE)
        report["longest"] = max(report["longest"], waited)
        if status == 200 and not rejected:
            report["sets"] += 1
        else:
            report["lost"].append(f"status {status}, {rejected} facts rejected, after {waited:.1f} s")
            is_over = True  # one is enough to say so
        recorder.forget()
        if not report["lost"]:
            print("one was taken", flush=True)  # from the first one on it is beside the attack
        if select.select([sys.stdin], [], [], PAUSE)[0]:
            is_over = True
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
