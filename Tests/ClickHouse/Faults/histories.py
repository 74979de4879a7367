"""What clients record and send in a case, and so what has to be there in the end."""

import copy
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "IntegrationTests"))
import sets  # noqa: E402

BASELINE = 40  # purchases that are there before a case begins, and that every answer has to count


class History:
    """Logins of one app and one server, each a source, as sets: the facts of a source are divided among them in order.

    `facts` has all that was recorded, by source and sequence; `transactions` the IDs of the logins.
    """

    def __init__(self, logins, chance, per_set=2):
        started = sets.now() - 3_600_000_000
        self.app, self.server = sets.Recorder(sets.APP, started), sets.Recorder(sets.SERVER, started)
        self.sets, self.transactions = [], []
        for first in range(0, logins, per_set):
            begun = [recorder.first + len(recorder.facts) for recorder in (self.app, self.server)]
            for index in range(first, min(first + per_set, logins)):
                self.transactions.append(
                    sets.login(self.app, self.server, 1000 + index * 100_000, chance.random() < 0.8)
                )
            for recorder, sequence in zip((self.app, self.server), begun):
                self.sets.append(self.set(recorder, sequence))

    def set(self, recorder, first, last=None, **members):
        """The facts of a source from one sequence to another, as they are now."""
        facts = [fact for fact in recorder.facts if first <= fact["sequence"] <= (last or fact["sequence"])]
        return copy.deepcopy(recorder.set(facts, **members))

    @property
    def facts(self):
        return {
            (recorder.id, fact["sequence"]): fact for recorder in (self.app, self.server) for fact in recorder.facts
        }

    def regrouped(self, chance):
        """The same facts in other sets, some of which overlap, as a client sends them that has leased anew."""
        again = []
        for recorder in (self.app, self.server):
            last, first = recorder.facts[-1]["sequence"], 1
            while first <= last:
                end = min(last, first + chance.randrange(3, 40))
                again.append(self.set(recorder, max(1, first - chance.randrange(0, 10)), end))
                first = end + 1
        chance.shuffle(again)
        return again


def sent_again(given):
    """The same set in a body of its own, as from a client that has not kept its bytes."""
    return {**copy.deepcopy(given), "set": sets.guid()}


def baseline():
    """Purchases, whose count is known: what is asked for while things go wrong."""
    app = sets.Recorder(sets.APP, sets.now() - 7_200_000_000)
    for index in range(BASELINE):
        sets.purchase(app, 1000 + index * 60_000_000)
    return app.set()


def shuffled(values, chance):
    values = list(values)
    chance.shuffle(values)
    return values


def chance_of(seed, name):
    """A chance of its own for each case, the same for the same seed."""
    return random.Random(f"{seed} {name}")
