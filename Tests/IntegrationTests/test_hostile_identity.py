"""Somebody with the ingest token of an app, which anybody can take out of it, speaks for others: for a source whose ID
every correlated request carries, for its installation, and about transactions that others began."""
import http.client
import json
import secrets

import pytest
from sets import APP, SERVER, Recorder, guid
from waybill import TIMEOUT

ROUNDS = 100
BEGUN = 1_772_366_400_000_000


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(tmp_path_factory.mktemp("identity"), roles=["ingest", "read", "admin"])


class Sender:
    """A source with its proofs, as an app's library keeps them."""

    def __init__(self, about=APP, installation=None, source=None, proof=None, installation_proof=None):
        self.installation = installation or guid()
        self.recorder = Recorder(about | {"installation": self.installation}, BEGUN, {}, id=source)
        self.recorder.proof = None
        self.proofs = {
            "source_proof": proof or secrets.token_hex(32),
            "installation_proof": installation_proof or secrets.token_hex(32)}

    def begin(self, transaction=None, events=2, **members):
        transaction = transaction or guid()
        self.recorder.open(0, transaction, 0, **members)
        for number in range(events):
            self.recorder.add(number + 1, "event", event=number)
        return transaction

    def set(self, **members):
        return self.recorder.set(**(self.proofs | members))


def ask(collector, role, method, path):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request(method, path, headers={"Authorization": f"Bearer {collector.tokens[role]}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, json.loads(body) if body else None


def shown(collector, transaction):
    """How many events of a transaction are shown; None where it is not there."""
    status, record = ask(collector, "read", "GET", f"/v1/transactions/{transaction}")
    assert status in (200, 404)
    return None if status == 404 else sum(event["kind"] == "event" for event in record["timeline"])


def metric(collector, name):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {collector.tokens['read']}"})
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return sum(int(line.split()[-1]) for line in lines if line.startswith(name + "{"))


def forged(sender, **members):
    """What somebody who knows no more than the ID of a source can say of it."""
    share = sender.recorder.set(facts=[])["sources"][0]
    share |= {"names": [], "ledger": share["ledger"] | {"recorded": 1 << 50}} | members
    return {"set": guid(), "sources": [share]}


ERASED = {"dropped": [{"first": 1, "last": 1 << 40, "reason": "erased"}]}
CLAIMS = {
    "erases it": ERASED,
    "drops it": {"dropped": [{"first": 1, "last": 1 << 40, "reason": "damaged"}]},
    "ends it": {"ended": True},
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_an_ingest_token_does_nothing_to_the_source_of_another(claim, collector, attack):
    victim = Sender()
    transaction = victim.begin()
    collector.post(victim.set())
    before = metric(collector, "waybill_refused_sources_total")
    with attack(collector, f"an ingest token names another's source and {claim}") as tried:
        for number in range(ROUNDS):
            proof = {"source_proof": secrets.token_hex(32)} if number % 2 else {}
            receipt = collector.send(forged(victim, **CLAIMS[claim], **proof))
            tried.count += 1
            assert "source_proof" in receipt["refused"][0]["reason"]
        assert shown(collector, transaction) == 2
        victim.recorder.forget()
        victim.recorder.add(10, "event", event=7)
        collector.post(victim.set())
        assert shown(collector, transaction) == 3, "the victim goes on"
        tried.held = f"all {ROUNDS} refused, the victim's transaction is there and goes on"
    assert metric(collector, "waybill_refused_sources_total") == before + ROUNDS


def test_facts_that_are_foisted_on_a_source_are_rejected_and_the_rest_of_the_set_is_taken(collector, attack):
    victim = Sender()
    transaction = victim.begin()
    collector.post(victim.set())
    with attack(collector, "an ingest token adds facts to another's source") as tried:
        for number in range(ROUNDS):
            liar = Recorder(victim.recorder.about, BEGUN, {}, id=victim.recorder.id)
            liar.proof = secrets.token_hex(32) if number % 2 else None
            liar.first = 4 + number
            liar.add(5, "event", event=66, part=1)
            honest = Sender()
            honest.begin()
            body = liar.set()
            body["sources"] += honest.set()["sources"]
            receipt = collector.send(body)
            tried.count += 1
            assert receipt["accepted"] == 3 and len(receipt["rejected"]) == 1
        assert shown(collector, transaction) == 2
        tried.held = f"{ROUNDS} facts rejected, the other sources of the same sets taken"


def test_a_source_that_has_no_proof_can_be_spoken_for_and_loses_nothing(collector, attack):
    """An older client: what it sends is taken as before, but nobody can take it away, itself included."""
    victim = Sender()
    victim.proofs = {}
    transaction = victim.begin()
    collector.post(victim.set())
    with attack(collector, "the source of an older client is erased, dropped, ended and taken over") as tried:
        for claim in CLAIMS.values():
            for proof in ({}, {"source_proof": secrets.token_hex(32)}):
                collector.send(forged(victim, **claim, **proof))
                tried.count += 1
        assert shown(collector, transaction) == 2
        victim.recorder.forget()
        victim.recorder.add(10, "event", event=7)
        collector.post(victim.set())
        assert shown(collector, transaction) == 3, "nobody has bound the source to a secret of his own"
        tried.held = "all of it is there, and the client goes on"


def test_an_installation_cannot_be_joined_by_another(collector, attack):
    victim = Sender()
    victim.begin()
    collector.post(victim.set())
    with attack(collector, "sources pretend to be of another's installation") as tried:
        for _ in range(ROUNDS):
            liar = Sender(installation=victim.installation)
            transaction = liar.begin()
            receipt = collector.send(liar.set())
            tried.count += 1
            assert receipt["accepted"] == 0 and "installation_proof" in receipt["refused"][0]["reason"]
            assert shown(collector, transaction) is None
        later = Sender(
            installation=victim.installation, installation_proof=victim.proofs["installation_proof"])
        later.begin()
        collector.post(later.set())
        tried.held = f"all {ROUNDS} refused; the next launch of the installation is taken"


def test_an_erased_installation_erases_nothing_of_others(collector, attack):
    victim, server = Sender(), Sender(SERVER)
    transactions = [victim.begin() for _ in range(ROUNDS // 10)]
    for transaction in transactions:
        server.begin(transaction, events=1, joined=True)
    collector.post(victim.set(), server.set())
    liar = Sender()
    its = liar.begin()
    server.recorder.forget()
    server.begin(its, events=1, joined=True)
    collector.post(liar.set(), server.set())
    with attack(collector, "an erased installation says that it began others' transactions") as tried:
        # Before it is erased, too.
        liar.begin(transactions[0])
        collector.post(liar.set())
        status, erasure = ask(collector, "admin", "DELETE", f"/v1/transactions?installation={liar.installation}")
        assert status == 200
        assert shown(collector, its) is None, "its own goes, with what the server recorded of it"
        assert shown(collector, transactions[0]) == 3
        for transaction in transactions:
            liar.recorder = Recorder(liar.recorder.about, BEGUN, {})
            liar.begin(transaction)
            receipt = collector.send(liar.set())
            tried.count += 1
            assert receipt["accepted"] == 0
            assert {rejection["reason"] for rejection in receipt["rejected"]} == {"erased"}
            assert shown(collector, transaction) == 3
        victim.recorder.forget()
        for number, transaction in enumerate(transactions):
            victim.recorder.add(10, "event", event=7, part=1 + 3 * number)
        collector.post(victim.set())
        assert shown(collector, transactions[-1]) == 4
        tried.held = f"all {len(transactions)} are there, and go on"


def test_what_is_told_of_many_sources_has_a_sum(collector, attack):
    with attack(collector, "a thousand sources tell that they recorded 2^53 - 1 facts") as tried:
        body = {"set": guid(), "sources": []}
        for _ in range(1000):
            liar = Sender()
            liar.begin(events=0)
            share = liar.set()["sources"][0]
            largest = (1 << 53) - 1
            share["ledger"] |= {"recorded": largest, "refused": largest}
            liar.recorder.first = largest
            liar.recorder.facts = []
            liar.recorder.add(5, "event", event=1, part=1)
            share["facts"] += liar.recorder.facts
            body["sources"].append(share)
            tried.count += 1
        receipt = collector.send(body)
        assert receipt["accepted"] == 1000 and len(receipt["rejected"]) == 1000
        status, page = ask(collector, "read", "GET", "/v1/sources?limit=500")
        assert status == 200
        assert max(row["ledger"]["recorded"] for row in page["rows"]) == 1 << 40
        tried.held = "each counts for 2^40 at most, and the pages add them up"


def test_who_says_that_he_began_what_others_began_is_not_shown_for_them(collector, attack):
    """The ID of a transaction is in every request of it, and the lowest ID of a source is anybody's to take."""
    victim, server = Sender(), Sender(SERVER)
    transactions = [victim.begin(attributes={"by": "victim"}) for _ in range(ROUNDS // 10)]
    cause = {"source": victim.recorder.id, "sequence": 1}
    for transaction in transactions:
        server.begin(transaction, events=0, joined=True, cause=cause)
    collector.post(victim.set(), server.set())
    with attack(collector, "a source of the lowest ID says that it began others' transactions") as tried:
        for transaction in transactions:
            liar = Sender(source=f"00000000-0000-7000-8000-{secrets.token_hex(6)}")
            liar.begin(transaction, attributes={"by": "liar"})
            liar.begin(transaction, events=0, joined=True, cause={"source": liar.recorder.id, "sequence": 1})
            collector.post(liar.set())
            tried.count += 1
        status, page = ask(collector, "read", "GET", "/v1/transactions?limit=500")
        assert status == 200
        by = {row["id"]: row["attributes"].get("by") for row in page["rows"]}
        assert [by[transaction] for transaction in transactions] == ["victim"] * len(transactions)
        status, told = page_of(collector, f"/transactions/{transactions[0]}")
        assert status == 200 and "2 sources say that they began it" in told
        tried.held = f"all {len(transactions)} are shown as their servers know them, and the page tells of two who say so"


def page_of(collector, path):
    connection = http.client.HTTPConnection(collector.address, timeout=TIMEOUT)
    connection.request("GET", path, headers={"Cookie": collector.log_in(collector.tokens["read"])})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body
