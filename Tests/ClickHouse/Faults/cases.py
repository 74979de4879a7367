"""What goes wrong, one function a case: `case(scene, chance, scale)` gives counts. `scale` 1 is a short run."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from counting import Asking, Counts, count, tally
from doors import Unavailable, until
from histories import BASELINE, History, baseline, sent_again, sets, shuffled
from relay import At, Hold, Losing
from stages import Skipped

CASES = {}
BUSY = 40  # statements of three seconds each


def case(name):
    def add(function):
        CASES[name] = function
        return function

    return add


@case("doors killed")
def doors_killed(scene, chance, scale):
    """A door dies before its first insert, after it, before its second, and so on; the client turns to another one."""
    scene.needs_inserts()
    kills, logins = 0, History(2 * 24 * scale, chance)
    dying, other = scene.door(relayed=True), scene.door()
    given = iter(logins.sets)
    for _ in range(4 * scale):
        for when in ("before", "after"):
            for number in range(1, 13):
                one = next(given, None)
                if one is None:
                    break
                watch = At(number, when, dying.kill)
                dying.relays.set(watch)
                scene.given.append(one)
                try:
                    dying.send(one)
                except Unavailable:
                    pass
                dying.relays.set(None)
                if not watch.has_happened:  # it was done with fewer
                    break
                kills += 1
                scene.deliver(one, [other], chance)
                dying.restart()
    for one in given:
        scene.give(one, [dying, other], chance)
    return count(scene, other, kills)


@case("doors at once")
def doors_at_once(scene, chance, scale):
    """Four doors take a shuffled history, three sets in ten of it twice, client and server side by side."""
    doors = [scene.door() for _ in range(4)]
    history = History(60 * scale, chance)
    scene.given = history.sets
    again = [sent_again(one) for one in history.sets if chance.random() < 0.3]
    together(scene, shuffled(history.sets + again, chance), doors, chance)
    return count(scene, doors[0], len(again))


@case("replica killed")
def replica_killed(scene, chance, scale):
    """A replica dies under load and while somebody asks, and comes back; then one of the other shard."""
    scene.needs_replicas()
    doors = [scene.door() for _ in range(2)]
    asking = prepared(scene, doors[0], chance)
    stalls, kills = [], 0
    for name in ["1.2", "2.1", "1.1", "2.2"][: 2 * scale]:
        history = History(24, chance)
        scene.given += history.sets
        with Meanwhile(lambda: asking.once(doors[0])):
            half = len(history.sets) // 3
            stalls.append(together(scene, history.sets[:half], doors, chance))
            scene.engine.do(f"kill {name}")
            kills += 1
            with ThreadPoolExecutor(1) as pool:
                rest = pool.submit(together, scene, history.sets[half:], doors, chance)
                for _ in range(20):
                    asking.once(doors[1])
                scene.engine.do(f"start {name}")
                stalls.append(rest.result())
    counts = count(scene, doors[0], kills)
    counts.problems += asking.problems()
    counts.remark = (
        f"{asking.answers} answers and {asking.refusals} refusals meanwhile; the longest set took {max(stalls):.1f} s"
    )
    return counts


@case("whole shard dead")
def shard_dead(scene, chance, scale):
    """Both replicas of a shard are gone: no answer rather than part of one, and all is there when they are."""
    scene.needs_replicas()
    doors = [scene.door()]
    asking = prepared(scene, doors[0], chance)
    for name in ("1.1", "1.2"):
        scene.engine.do(f"kill {name}")
    with ThreadPoolExecutor(3) as pool:  # a door tries for some time before it gives up
        for _ in range(3):
            pool.submit(asking.once, doors[0])
    answered = asking.answers
    for name in ("1.1", "1.2"):
        scene.engine.do(f"start {name}")
    counts = count(scene, doors[0], 2)
    asking.once(doors[0])
    counts.problems += asking.problems()
    if answered:
        counts.problems.append(f"{answered} answers were given while a whole shard was dead")
    return counts


@case("answers lost")
def answers_lost(scene, chance, scale):
    """Clients hang up before their receipts, and answers to a door's inserts do not arrive."""
    history = History(30 * scale, chance)
    scene.given, lost = history.sets, 0
    doors = [scene.door(relayed=True), scene.door(relayed=True)]
    watches = [Losing(chance, 0.1) for door in doors if door.relays]
    for door, watch in zip(doors, watches):
        door.relays.set(watch)
    for one in history.sets:
        if chance.random() < 0.5:
            lost += 1
            chance.choice(doors).send_and_go_away(one, chance.choice([0, 0.001, 0.01, 0.05]))
        scene.deliver(one if chance.random() < 0.5 else sent_again(one), doors, chance)
    for door in doors:
        if door.relays:
            door.relays.set(None)
    inner = sum(watch.lost for watch in watches)
    counts = count(scene, doors[0], lost + inner)
    counts.remark = f"{lost} receipts and {inner} answers to inserts"
    return counts


@case("regrouped")
def regrouped(scene, chance, scale):
    """A client sends what it has sent in other sets, some of them over one another, to any door."""
    doors = [scene.door() for _ in range(2)]
    history = History(40 * scale, chance)
    for one in shuffled(history.sets, chance):
        scene.give(one, doors, chance)
    again = history.regrouped(chance)
    together(scene, again, doors, chance)
    return count(scene, doors[1], len(again))


@case("beyond the window")
def beyond_the_window(scene, chance, scale):
    """More inserts than ClickHouse remembers hashes of, 100 by default; then the first of them once more."""
    doors = [scene.door()]
    history = History(70 * scale, chance, per_set=1)
    for one in history.sets:
        scene.give(one, doors, chance)
    for one in history.sets[:20]:
        scene.deliver(one, doors, chance)  # the same bytes
        scene.deliver(sent_again(one), doors, chance)
    return count(scene, doors[0], 40)


@case("below the quorum")
def below_the_quorum(scene, chance, scale):
    """What was acknowledged while a replica was dead is there when that one is back and the other is gone."""
    scene.needs_replicas()
    door, history = scene.door(), History(8, chance)
    for one in history.sets[:4]:
        scene.give(one, [door], chance)
    for shard in (1, 2):
        scene.engine.do(f"kill {shard}.2")
    scene.given += history.sets[4:]
    with ThreadPoolExecutor(len(history.sets)) as pool:
        sending = [(one, pool.submit(tried, lambda one=one: door.send(one, timeout=30))) for one in history.sets[4:]]
    waiting = [one for one, receipt in sending if receipt.result() is None]
    refused, acknowledged = len(waiting), len(sending) - len(waiting)
    for shard in (1, 2):
        scene.engine.do(f"start {shard}.2")
    together(scene, waiting, [door], chance)
    for shard in (1, 2):
        scene.engine.do(f"kill {shard}.1")
    counts = count(scene, door, refused + acknowledged)
    for shard in (1, 2):
        scene.engine.do(f"start {shard}.1")
    counts.remark = f"{refused} sets refused, {acknowledged} acknowledged with one replica of each shard dead"
    return counts


@case("export's cursor")
def cursor(scene, chance, scale):
    """Increments are taken while a door hangs between its inserts: each fact is in one of them, and in one only."""
    history = History(12 * scale, chance)
    slow, quick, third = scene.door(relayed=True), scene.door(), scene.door()
    taken, after, pauses = [], None, 0

    def take():
        nonlocal after
        facts, after = until(lambda: chance.choice([quick, third]).export(after))[0]
        taken.extend(facts)

    for index in range(0, len(history.sets) - 1, 2):
        held, other = history.sets[index : index + 2]
        scene.given.append(held)
        with hanging(slow, 1 + index // 2 % 3, lambda: slow.send(held)) as hangs:
            # What comes later is stored first, and exported.
            scene.give(other, [quick], chance)
            take()
            pauses += hangs
        scene.deliver(held, [slow, quick], chance)
        take()
    counts = count(scene, quick, pauses)
    for _ in range(50):  # what was acknowledged last may be beyond the bound that increments keep to
        take()
        delivered, lost, doubled = tally(taken, set(scene.reference()))
        if not lost:
            break
        time.sleep(0.5)
    counts.lost, counts.doubled = max(counts.lost, len(lost)), max(counts.doubled, doubled)
    if lost or doubled:
        counts.problems.append(f"of the increments: {len(lost)} lost, {doubled} doubled")
    return counts


@case("late anchor")
def late_anchor(scene, chance, scale):
    """What a clock was is told after the facts that it is for, from A to B and to A again, in any order."""
    doors = [scene.door() for _ in range(2)]
    history = History(12, chance)
    app, turns = history.app, 0
    began = app.clocks[0]["offset_us"]
    for one in history.sets:
        scene.give(one, doors, chance)
    last = app.facts[-1]["at_us"]
    for share, offset in ((1 / 4, 5_000_000), (1 / 2, 0), (3 / 4, -7_000_000)):
        app.clocks.append({"at_us": int(last * share), "offset_us": began + offset})
        turns += 1
        scene.give(history.set(app, 1, 10), doors, chance)
    return count(scene, doors[0], turns)


@case("control")
def control(scene, chance, scale):
    """Whether the counting would tell: of facts that are lost, doubled, of another time, and of an answer in part."""
    door, history = scene.door(), History(6, chance)
    for one in history.sets:
        scene.give(one, [door], chance)
    right = count(scene, door, 0)
    kept, scene.given = scene.given, scene.given + [History(1, chance).sets[0]]
    forgetful = count(scene, door, 0, patience=0)
    scene.given = kept
    doubling = tally(door.export()[0] * 2, set(scene.reference()))[2]
    moved = [
        {**one, "sources": [{**share, "clocks": [{"at_us": 0, "offset_us": 1}]} for share in one["sources"]]}
        for one in kept
    ]
    scene.given = moved
    shifted = count(scene, door, 0)
    asking = Asking(0, len(history.transactions) + 1)
    asking.once(door)

    counts = Counts(4, f"told, as they should be: {forgetful.lost} facts lost, {doubling} doubled")
    counts.problems += right.problems
    told = {
        "facts that were not there": forgetful.lost,
        "a source that nobody knew": any("is not known" in one for one in forgetful.problems),
        "facts that were there twice": doubling,
        "times that were others": any("are not what one collector" in one for one in shifted.problems),
        "an answer that did not count all": asking.problems(),
    }
    counts.problems += [f"{what} were not told" for what, was_told in told.items() if not was_told]
    return counts


@case("erasure")
def erasure(scene, chance, scale):
    """Transactions are erased while a replica is dead, while a door has facts of theirs in flight, and while the cluster
    is busy with statements ON CLUSTER, which each server runs one after the other.

    The last of the cases, because a case after it would wait for these statements."""
    history = History(12, chance)
    slow, quick = scene.door(relayed=True), scene.door()
    early, late = history.sets[:-2], history.sets[-2:]
    for one in early:
        scene.give(one, [quick], chance)
    erased = [history.transactions[0], history.transactions[3], history.transactions[-1]]
    has_replicas = scene.engine and len(scene.engine.nodes) > 1
    if has_replicas:
        scene.engine.do("kill 1.2")
    scene.given += late
    unfinished = 0
    for number, one in enumerate(late, 1):
        with hanging(slow, number, lambda: slow.send(one)):
            unfinished += tried(lambda: quick.erase(erased)) is None
    seen = (
        {fact["transaction_id"] for fact in until(lambda: quick.export()[0])[0]} & set(erased)
        if scene.engine
        else set()
    )
    if has_replicas:
        scene.engine.do("start 1.2")
    until(lambda: quick.erase(erased))
    if has_replicas:
        scene.engine.post("CREATE DATABASE busy ON CLUSTER waybill")
        for number in range(BUSY):
            slowly = f"CREATE TABLE busy.t{number} ON CLUSTER waybill ENGINE = Memory AS SELECT sleep(3)"
            scene.engine.post(slowly, distributed_ddl_task_timeout=0)
        erased.append(history.transactions[5])
        until(lambda: quick.erase(erased[-1:]), seconds=0)
        made = int(scene.engine.post("SELECT count() FROM system.tables WHERE database = 'busy'"))
        if made == BUSY:
            scene.problems.append("an erasure waited for all statements ON CLUSTER")
    for one in history.sets:  # what comes again of the erased is rejected, the rest is known
        until(lambda: quick.send(one))
    counts = count(scene, quick, len(erased), erased)
    if seen:
        counts.problems.append(f"{len(seen)} erased transactions were seen, after their erasure was asked for")
    counts.remark = f"{unfinished} of {len(late)} erasures unfinished at first"
    return counts


def prepared(scene, door, chance):
    """Somebody who asks for purchases, of which there are as many as there were."""
    scene.give(baseline(), [door], chance)
    return Asking(1, BASELINE)


def tried(action):
    """nil where it was not available."""
    try:
        return action()
    except Unavailable:
        return None


def together(scene, given, doors, chance, threads=4):
    """All of them by several clients at once, each set until it is acknowledged; the seconds of the slowest."""
    seeds = [chance.random() for _ in given]
    with ThreadPoolExecutor(threads) as pool:
        return max(
            pool.map(lambda pair: scene.deliver(pair[0], doors, random.Random(pair[1])), zip(given, seeds)), default=0
        )


@contextmanager
def hanging(door, number, action):
    """While the block runs, the door is in the midst of something: it hangs at its `number`th write, if there is one.

    Whether it does is what the block is told. Afterwards it goes on, and what comes of it is not waited for long.
    """
    if not door.relays:
        tried(action)
        yield False
        return
    hold = Hold(number, door)
    door.relays.set(hold)
    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(tried, action)
        while not hold.reached.wait(0.01) and not doing.done():
            pass
        try:
            yield hold.reached.is_set()
        finally:
            door.relays.set(None)
            hold.let_go()
    doing.result()


class Meanwhile:
    """Does something again and again while a block runs."""

    def __init__(self, action):
        self.action, self.ended = action, threading.Event()
        self.thread = threading.Thread(target=self.go)

    def go(self):
        while not self.ended.is_set():
            self.action()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


__all__ = ["CASES", "Skipped", "sets"]
