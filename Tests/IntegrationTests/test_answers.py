"""DuckDB, over exports, is asked what `waybill ask` was asked over the store; they must agree to the microsecond.

The store is made of generated sets: several launches of an app whose versions number their events differently, a
server, clocks that are off and turned, facts that come late, twice and out of order, transactions of which only the
server's part arrived. SEED=n makes another one.
"""
import json
import os
import random
import re
import uuid

import pytest
from sets import DAY, Recorder
from waybill import DUCKDB, ROOT, execute, in_duckdb, waybill

BEGUN = 1_772_323_200_000_000
NAMES = ["initiated", "typed", "requestSent", "responseReceived", "serverStarted", "serverAccepted"]
QUANTILES = [50, 75, 90, 95, 99]
OUTCOMES = ["succeeded", "failed", "cancelled", "abandoned"]


class Dicing(Recorder):
    """A source whose facts come at any moment, and whose clock is set now and then."""

    def __init__(self, dice, app, version, offset):
        # Versions number their events differently, and the last event of some has no name.
        self.codes = {name: code * 3 if version == "2" else code for code, name in enumerate(NAMES)}
        self.dice, self.time = dice, 0
        id, installation = (str(uuid.UUID(int=dice.getrandbits(128))) for _ in range(2))
        about = {"installation": installation, "app": app, "app_version": version}
        super().__init__(about, offset, {(3, "login"): {self.codes[name]: name for name in NAMES[:5]}}, id)

    def tick(self):
        self.time += self.dice.choice([0, self.dice.randrange(5_000), self.dice.randrange(2_000_000)])
        if self.dice.random() < 0.01:
            offset = self.clocks[-1]["offset_us"] + self.dice.randrange(-3_000_000, 3_000_000)
            earlier = [clock for clock in self.clocks if clock["at_us"] < self.time]
            self.clocks = earlier + [{"at_us": self.time, "offset_us": offset}]
        return self.time

    def begin(self, transaction, **members):
        return self.open(self.tick(), transaction, 3, **members)

    def tell(self, part, kind, **members):
        return self.add(self.tick(), kind, part, **members)


def record(dice):
    server = Dicing(dice, "server", "1", BEGUN + dice.randrange(-400_000, 400_000))
    clients = [Dicing(dice, "app", dice.choice("12"), BEGUN + launch * 7_000_000_000) for launch in range(40)]
    for client in clients:
        for _ in range(dice.randrange(1, 40)):
            transaction = str(uuid.UUID(int=dice.getrandbits(128)))
            part, joined = client.begin(transaction), None
            for _ in range(dice.randrange(12)):
                who = dice.choice([client, client, server])
                if who is server:
                    server.time = max(0, client.time + client.clocks[-1]["offset_us"] - server.clocks[0]["offset_us"])
                    joined = joined or server.begin(transaction, joined=True)
                who.tell(joined if who is server else part, "event", event=who.codes[dice.choice(NAMES)])
            outcome = dice.choice(OUTCOMES + [None])
            if outcome:
                client.tell(part, "finished", outcome=outcome, **({"error": failure(dice)} if outcome == "failed" else {}))
            if dice.random() < 0.1:
                client.tell(part, "event", event=0)  # late
    return [server] + clients[:-2]  # what the others recorded never arrives, but for the server's parts


def failure(dice):
    name = dice.choice([None, None, "rejected", "offline"])
    return {"domain": "E", "code": dice.choice([401, 429]), **({"name": name} if name else {})}


def write_sets(folder, dice):
    sets = []
    for recorder in record(dice):
        facts = list(recorder.facts)
        dice.shuffle(facts)
        while facts:
            count = dice.randrange(1, 200)
            sets.append(recorder.set(sorted(facts[:count], key=lambda fact: fact["sequence"])))
            facts = facts[count:]
    repeated = dice.sample(sets, len(sets) // 4)
    sets += [{**one, "set": str(uuid.UUID(int=dice.getrandbits(128)))} for one in repeated]
    dice.shuffle(sets)
    folder.mkdir()
    for number, one in enumerate(sets):
        (folder / f"{number:05}.waybill-set.json").write_text(json.dumps(one))


PREPARE = """
    CREATE TEMP TABLE facts AS FROM {facts} WHERE transaction_id IS NOT NULL;
    CREATE TEMP TABLE leaders AS SELECT o.*, c.outcome AS closing, c.error_domain AS domain, c.error_code AS error,
      c.error_name AS called FROM (
      FROM facts WHERE kind IN ('begun', 'joined') QUALIFY row_number() OVER (
        PARTITION BY transaction_id ORDER BY is_joined, CASE WHEN is_joined THEN time_us END, source, sequence) = 1
    ) o LEFT JOIN (FROM facts WHERE kind = 'finished') c ON c.source = o.source AND c.part = o.part
    WHERE o.use_case = 3 AND {beginner};
    CREATE TEMP TABLE events AS
      SELECT transaction_id, source, sequence, at_us, time_us, coalesce(name, 'event ' || code) AS name FROM facts
      WHERE kind = 'event' AND transaction_id IN (SELECT transaction_id FROM leaders);
    CREATE TEMP TABLE points AS FROM events
      UNION ALL SELECT transaction_id, source, sequence, at_us, time_us, '^' FROM leaders
      UNION ALL SELECT c.transaction_id, c.source, c.sequence, c.at_us, c.time_us, '$' FROM facts c
        JOIN leaders l ON l.source = c.source AND l.part = c.part WHERE c.kind = 'finished';
    CREATE MACRO is_after(a, b) AS
      CASE WHEN a.source = b.source THEN (a.at_us, a.sequence) > (b.at_us, b.sequence) ELSE (a.time_us, a.source) > (b.time_us, b.source) END;
    CREATE MACRO took(a, b) AS CASE WHEN a.source = b.source THEN b.at_us - a.at_us ELSE b.time_us - a.time_us END;
    CREATE TEMP VIEW ordered AS
      SELECT *, row_number() OVER (PARTITION BY transaction_id ORDER BY merged, source, at_us, sequence) AS place FROM (
        SELECT *, max(time_us) OVER (
          PARTITION BY transaction_id, source ORDER BY at_us, sequence ROWS UNBOUNDED PRECEDING) AS merged FROM events);
"""


# Which transactions count, in the words of a filter: what only the server joined may be made up.
BEGINNERS = {"known": "NOT o.is_joined", "any": "true"}


def statistics(took="took"):
    quantiles = ", ".join(f"quantile_disc({took}, {q / 100}) AS p{q}_us" for q in QUANTILES)
    return f"""count({took}) AS count, min({took}) AS minimum_us, {quantiles}, max({took}) AS maximum_us,
        CAST(floor(sum({took})::DOUBLE / count({took})) AS BIGINT) AS mean_us"""


def first(table, direction="ASC"):
    """Orders each source by time and sequence, and sources by their clocks."""
    return f"""SELECT * FROM (
          FROM {table}
          QUALIFY row_number() OVER (PARTITION BY transaction_id, source ORDER BY at_us {direction}, sequence {direction}) = 1)
        QUALIFY row_number() OVER (PARTITION BY transaction_id ORDER BY time_us {direction}, source {direction}) = 1"""


def duration(start, end, direction):
    table = f"""(SELECT took(a, b) AS took, b.source IS NULL AS open, is_after(a, b) AS reversed
        FROM ({first(f"(FROM points WHERE name = '{start}')", direction)}) a
        LEFT JOIN ({first(f"(FROM points WHERE name = '{end}')", direction)}) b USING (transaction_id))"""
    kept = "CASE WHEN NOT open AND NOT reversed THEN took END"
    return f"""SELECT {statistics(kept)}, count(*) FILTER (open) AS without_end,
        count(*) FILTER (NOT open AND reversed) AS reversed FROM {table}"""


def funnel(steps):
    tables = [f"s0 AS ({first(f'''(FROM points WHERE name = '{steps[0]}')''')})"]
    for number, step in enumerate(steps[1:], 1):
        later = f"""(SELECT b.* FROM s{number - 1} a JOIN points b USING (transaction_id)
            WHERE b.name = '{step}' AND is_after(b, a))"""
        tables.append(f"s{number} AS ({first(later)})")
    rows = [f"SELECT 0 AS step, (SELECT count(*) FROM s0) AS reached, {statistics('NULL::BIGINT')} FROM s0"]
    for number in range(1, len(steps)):
        joined = f"FROM s{number - 1} a JOIN s{number} b USING (transaction_id)"
        rows.append(f"SELECT {number}, count(*), {statistics('took(a, b)')} {joined}")
    return f"WITH {', '.join(tables)} {' UNION ALL '.join(rows)} ORDER BY step"


def of(answer):
    """A statement's row without what is missing, as JSON of an answer leaves it out."""
    return {key: value for key, value in answer.items() if value is not None}


# By name: what to ask, the same of DuckDB, and which rows of the answer have to be equal to those of SQL.
QUESTIONS = {
    "summary": (
        ["summary"], "SELECT count(*) AS runs, count(DISTINCT installation) AS installations FROM leaders",
        lambda a: [{key: a["use_cases"][0][key] for key in ["runs", "installations"]}]),
    "outcomes": (
        ["summary"],
        "SELECT closing AS outcome, count(*) AS count FROM leaders WHERE closing IS NOT NULL GROUP BY 1 ORDER BY 1",
        lambda a: [
            {"outcome": name, "count": count} for name, count in sorted(a["use_cases"][0]["outcomes"].items())
            if name in OUTCOMES]),
    "errors": (
        ["summary"], """SELECT domain, min(error) AS code, called AS name, count(*) AS count FROM leaders
        WHERE error IS NOT NULL GROUP BY domain, called, CASE WHEN called IS NULL THEN error END
        ORDER BY count(*) DESC, domain, coalesce(called, ''), min(error)""", lambda a: a["use_cases"][0]["errors"]),
    "rates": (
        ["summary"], f"""SELECT time_us // {DAY} * {DAY} AS start_us, count(*) AS runs,
        count(*) FILTER (closing = 'failed') AS failed, count(*) FILTER (closing = 'abandoned') AS abandoned,
        count(*) FILTER (closing = 'succeeded') AS succeeded, count(*) FILTER (closing = 'cancelled') AS cancelled
        FROM leaders GROUP BY 1 ORDER BY 1""",
        lambda a: [
            {key: rate[key] for key in ["start_us", "runs", "failed", "abandoned"]}
            | {outcome: rate["outcomes"].get(outcome, 0) for outcome in ["succeeded", "cancelled"]}
            for rate in a["use_cases"][0]["rates"]]),
    "transitions": (
        ["transitions"], f"""SELECT "from", "to", {statistics()} FROM (
        SELECT a.name AS "from", b.name AS "to", took(a, b) AS took FROM ordered a
        JOIN ordered b ON b.transaction_id = a.transaction_id AND b.place = a.place + 1)
        GROUP BY 1, 2 ORDER BY count DESC, 1, 2""",
        lambda a: [{"from": t["from"], "to": t["to"], **t["statistics"]} for t in a["transitions"]]),
    "drop-off": (
        ["dropoff", "--outcome", "abandoned"], f"""SELECT event, runs, {statistics()} FROM (
        SELECT l.transaction_id, e.name AS event, took(l, e) AS took, count(*) OVER (PARTITION BY e.name) AS runs
        FROM leaders l
        LEFT JOIN (FROM ordered QUALIFY row_number() OVER (PARTITION BY transaction_id ORDER BY place DESC) = 1) e
        USING (transaction_id) WHERE l.closing = 'abandoned') GROUP BY 1, 2 ORDER BY runs DESC, event NULLS FIRST""",
        lambda a: [of({"event": e.get("event"), "runs": e["count"], **e["statistics"]}) for e in a["last_events"]]),
}
for start, end in [("^", "$"), ("requestSent", "responseReceived"), ("initiated", "serverStarted"), ("typed", "typed")]:
    for direction, flags in [("ASC", []), ("DESC", ["--last"])]:
        QUESTIONS[f"duration {start} {end} {direction}"] = (
            ["duration", "--from", start, "--to", end, *flags], duration(start, end, direction),
            lambda a: [{**a["total"]["statistics"], **{key: a["total"][key] for key in ["without_end", "reversed"]}}])
for steps in [
        ["^", "requestSent", "responseReceived", "$"], ["initiated", "serverStarted", "requestSent"],
        ["typed", "typed"]]:
    QUESTIONS[f"funnel {' '.join(steps)}"] = (
        ["funnel", "--steps", ",".join(steps)], funnel(steps),
        lambda a: [
            {"step": number, "reached": step["reached"], **step["statistics"]}
            for number, step in enumerate(a["total"]["steps"])])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    seed = int(os.environ.get("SEED") or random.randrange(1_000_000))
    print(f"SEED={seed}")  # told where a test fails
    folder = tmp_path_factory.mktemp("answers")
    write_sets(folder / "sets", random.Random(seed))
    waybill("import", folder / "sets", "--to", folder / "store")
    return folder / "store"


@pytest.fixture(scope="module")
def exports(store):
    """What DuckDB reads an export with, by format."""
    for form in ("ndjson", "csv"):
        times = ("--times", "us") if form == "csv" else ()
        waybill("export", store, "--format", form, *times, "--output", store.with_name(f"f.{form}"))
    return {form: f"waybill_{form}('{store.with_name(f'f.{form}')}')" for form in ("ndjson", "csv")}


@pytest.fixture(scope="module")
def answers(store):
    def ask(beginner, kind, *words):
        filter = [] if beginner == "known" else [f"beginner:{beginner}"]
        return json.loads(waybill("ask", kind, store, *filter, "--use-case", "login", *words, "--json"))

    def all(beginner):
        return {name: rows(ask(beginner, *words)) for name, (words, _, rows) in QUESTIONS.items()}

    return {beginner: all(beginner) for beginner in BEGINNERS}


@pytest.fixture(scope="module")
def of_duckdb(exports):
    asked = [(form, beginner) for form in exports for beginner in BEGINNERS]
    return {(form, beginner): in_facts(exports[form], beginner) for form, beginner in asked}


def in_facts(facts, beginner="known"):
    prepare = PREPARE.format(facts=facts, beginner=BEGINNERS[beginner])
    found = in_duckdb(prepare, *(sql for _, sql, _ in QUESTIONS.values()))
    assert len(found) == len(QUESTIONS), "each question has an answer"
    return {name: [of(row) for row in rows] for name, rows in zip(QUESTIONS, found)}


@pytest.mark.parametrize("form, beginner", [("ndjson", "known"), ("csv", "known"), ("csv", "any")])
@pytest.mark.parametrize("name", QUESTIONS)
def test_duckdb_has_the_same_answer(name, form, beginner, answers, of_duckdb):
    assert of_duckdb[form, beginner][name] == answers[beginner][name]


def test_some_transactions_are_known_by_their_server_alone(answers):
    runs = {beginner: answers[beginner]["summary"][0]["runs"] for beginner in BEGINNERS}
    assert 0 < runs["known"] < runs["any"]


def test_answers_differ_where_one_event_in_five_is_missing(exports, answers):
    found = in_facts(f"(FROM {exports['ndjson']} WHERE kind <> 'event' OR sequence % 5 <> 2)")
    wrong = {name.split()[0] for name in QUESTIONS if found[name] != answers["known"][name]}
    assert {"duration", "funnel", "transitions", "drop-off"} <= wrong


def test_the_guide_s_statement_writes_every_fact_as_parquet_by_day(exports, tmp_path):
    guide = (ROOT / "Sources/Waybill/Waybill.docc/Export.md").read_text()
    copy = re.search(r"COPY .*PARTITION_BY \(day\)\)", guide).group()
    facts, files = exports["ndjson"], f"'{tmp_path}/parquet/*/*.parquet'"
    in_duckdb(copy.replace("waybill_ndjson('lake/*.ndjson.gz')", facts).replace("'parquet'", f"'{tmp_path}/parquet'"))
    same = "transaction_id, source, sequence, kind, time_us, at_us, name, outcome, attributes::VARCHAR"
    (found,), = in_duckdb(f"""SELECT (SELECT count(*) FROM {files}) AS rows,
        (SELECT count(*) FROM {facts}) AS facts, (SELECT count(DISTINCT day) FROM {files}) AS days,
        (SELECT count(*) FROM (SELECT {same} FROM {facts} EXCEPT SELECT {same} FROM {files})) AS missing,
        (SELECT count(*) FROM {files} WHERE day <> make_timestamp(time_us)::DATE) AS misplaced""")
    folders = len(list((tmp_path / "parquet").iterdir()))
    assert found == {"rows": found["facts"], "facts": found["facts"], "days": folders, "missing": 0, "misplaced": 0}
    assert folders >= 2
