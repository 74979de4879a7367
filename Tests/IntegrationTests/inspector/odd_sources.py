"""Sources that something is wrong with."""
import sets


def record_gaps(server):
    """A phone with gaps, drops and a clock that was set, a version that renamed an event, a fact that is rejected."""
    hour = 3_600_000_000
    phone = sets.Recorder({**sets.APP, "device": "iPhone18,2"}, sets.now() - 2 * hour)
    phone.open(0, sets.guid(), 0)
    for index in range(40):
        phone.add(1_000_000 * index + 1000, "event", event=1)
    phone.add(60_000_000, "finished", outcome="succeeded")
    phone.clocks.append({"at_us": 30_000_000, "offset_us": phone.started + hour})
    server.post(phone.set(
        [fact for fact in phone.facts if fact["sequence"] not in (7, 8, 9, 21)], attributes={"environment": "staging"},
        dropped=[{"first": 43, "last": 46, "reason": "quota"}, {"first": 47, "last": 47, "reason": "damaged"}],
        ledger={
            "recorded": 50, "delivered": 0, "quarantined": 0, "pending": 45, "refused": 3,
            "dropped": {"quota": 4, "damaged": 1}}))
    renamed = sets.Recorder(
        {**sets.APP, "app_version": "4.3.0 (1201)"}, sets.now() - hour, {(0, "login"): {1: "credentialsSent"}})
    renamed.open(0, sets.guid(), 0)
    renamed.add(1000, "event", event=1)
    server.post(renamed.set())
    closing = {"kind": "finished", "sequence": 49, "part": 1, "at_us": 61_000_000, "outcome": "failed"}
    assert len(server.send(phone.set([closing]))["rejected"]) == 1, "a second closing is rejected"
    return phone.id


def record_skewed(server):
    """Twelve logins with a server whose clock is five minutes ahead; their ways there and back take differently
    long, and the last one is refused and slower. The transactions."""
    started = sets.now() - 120_000_000
    app, back = sets.Recorder(sets.APP, started), sets.Recorder(sets.SERVER, started + 300_000_000)
    transactions = []
    for number in range(12):
        at, is_right = 3_000_000 * number, number < 11
        there, back_again = 2_000 + 9_000 * (number % 4), 1_500 + 7_000 * (number % 3)
        thought = 8_000 if is_right else 30_000
        transaction = sets.guid()
        app.open(at, transaction, 0, attributes={"variant": "A" if is_right else "B"})
        app.add(at + 400, "event", event=0)
        app.add(at + 2_000, "event", event=1)
        sent, arrived = at + 2_200, at + 2_200 + there
        answered = arrived + thought
        received = answered + back_again
        opened = app.add(
            sent, "exchange_begun", role="client", method="POST", scheme="https", host="api.example.com",
            path=f"/users/{4000 + number}/login")
        back.open(arrived, transaction, 0, joined=True, cause={"source": app.id, "sequence": opened})
        back.add(arrived + 300, "event", event=10)
        back.add(answered - 200, "event", **sets.answered(is_right))
        back.add(answered, "finished", outcome="succeeded")
        app.add(
            received, "exchange_finished", exchange=opened, state="completed", status=200 if is_right else 401,
            first_byte_us=received)
        if is_right:
            app.add(received + 500, "event", event=2)
        app.add(received + 2_000, "finished", **sets.ended(is_right))
        transactions.append(transaction)
    server.post(app.set(), back.set())
    return transactions
