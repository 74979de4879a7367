"""Exports of the demo's collector in every format, counted by DuckDB and SQLite; the questions of OfflineAnalysis."""
import csv
import datetime

import pytest
from waybill import ROOT, in_duckdb, in_sqlite, waybill

ANALYSIS = ROOT / "Examples/OfflineAnalysis"

# Each fact once, counted by kind; the rows are the facts.
COUNTS = """
    SELECT 'finished', count(closed), count(error_code) FROM parts
    UNION ALL SELECT CASE joined WHEN 0 THEN 'begun' ELSE 'joined' END, count(guid), 0 FROM parts WHERE guid IS NOT NULL GROUP BY 1
    UNION ALL SELECT CASE code WHEN -2 THEN 'attributes_set' ELSE 'event' END, count(*), count(json_extract(detail, '$.error_code'))
      FROM events GROUP BY 1
    UNION ALL SELECT 'exchange_finished', count(closed), count(error_code) FROM exchanges
    UNION ALL SELECT 'exchange_begun', count(method), 0 FROM exchanges ORDER BY 1"""


@pytest.fixture(scope="module")
def truth(collected):
    counts = in_sqlite(collected / "waybill.sqlite", COUNTS)
    assert sum(count for _, count, _ in counts) > 0, "the demo has recorded something"
    return counts


@pytest.fixture(scope="module")
def total(truth):
    return sum(count for _, count, _ in truth)


@pytest.fixture(scope="module")
def files(collected, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    for name in ("f.ndjson", "f.ndjson.gz", "f.csv", "f.csv.gz", "f.sqlite"):
        form = name.split(".")[1]
        times = ("--times", "us") if form == "csv" else ()
        waybill("export", collected, "--format", form, *times, "--output", folder / name)
    waybill("export", collected, "--incremental", folder / "lake", "--gzip")
    # What a run that was killed has left: no increment names it.
    (folder / "lake/facts/killed.ndjson").write_bytes((folder / "f.ndjson").read_bytes())
    return folder


@pytest.mark.parametrize("name", ["f.ndjson", "f.ndjson.gz", "f.csv", "f.csv.gz"])
def test_duckdb_finds_each_fact_once(name, files, truth, total):
    table = f"waybill_{name.split('.')[1]}('{files / name}')"
    (counts, (distinct,)) = in_duckdb(
        f"SELECT kind, count(*) AS count, count(error_code) AS errors FROM {table} GROUP BY kind ORDER BY kind",
        f"SELECT count(DISTINCT (source, sequence)) AS count FROM {table}")
    assert [tuple(row.values()) for row in counts] == truth
    assert distinct == {"count": total}


def test_ndjson_and_csv_hold_the_same_values(files):
    same = "SELECT * EXCLUDE (attributes, source_attributes, headers), attributes::VARCHAR, headers::VARCHAR FROM"
    ndjson, plain = f"{same} waybill_ndjson('{files}/f.ndjson')", f"{same} waybill_csv('{files}/f.csv')"
    assert in_duckdb(f"SELECT count(*) AS count FROM ({ndjson} EXCEPT {plain})") == [[{"count": 0}]]


def test_a_csv_for_a_spreadsheet_has_the_same_facts_with_times_that_it_keeps(files, collected, tmp_path):
    sheet = tmp_path / "sheet.csv"
    waybill("export", collected, "--format", "csv", "--bom", "--output", sheet)
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbftransaction_id,")
    with open(files / "f.csv", encoding="utf-8", newline="") as plain, open(sheet, encoding="utf-8-sig", newline="") as iso:
        for row, shown in zip(csv.DictReader(plain), csv.DictReader(iso), strict=True):
            moment = datetime.datetime.fromisoformat(shown.pop("time"))
            assert round(moment.timestamp() * 1_000_000) == int(row.pop("time_us"))
            assert shown == {name: "" if value == "false" else value for name, value in row.items()}


def test_a_csv_of_events_or_exchanges_has_a_row_for_each(collected, tmp_path):
    for rows, count in [
            ("events", "SELECT count(*) FROM events WHERE code >= 0"),
            ("exchanges", "SELECT count(*) FROM exchanges WHERE method IS NOT NULL")]:
        sheet = tmp_path / f"{rows}.csv"
        waybill("export", collected, "--format", "csv", "--rows", rows, "--output", sheet)
        with open(sheet, encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        assert len(found) == in_sqlite(collected / "waybill.sqlite", count)[0][0]
        assert all(datetime.datetime.fromisoformat(row["time" if rows == "events" else "begun"]) for row in found)


def test_a_csv_of_transactions_has_a_row_for_each(collected, tmp_path):
    sheet = tmp_path / "transactions.csv"
    waybill("export", collected, "--format", "csv", "--rows", "transactions", "--output", sheet)
    with open(sheet, encoding="utf-8", newline="") as file:
        rows = {row["transaction_id"]: row for row in csv.DictReader(file)}
    found = in_sqlite(
        collected / "waybill.sqlite",
        "SELECT id, outcome, duration_us FROM transactions WHERE NOT waiting_for_beginner")
    assert len(found) == len(rows)
    for transaction, outcome, duration in found:
        assert rows[transaction]["outcome"] == outcome
        assert rows[transaction]["duration_us"] == ("" if duration is None else str(duration))


def test_duckdb_reads_ndjson_without_being_told_the_columns(files, total):
    assert in_duckdb(f"SELECT count(*) AS count FROM '{files}/f.ndjson'") == [[{"count": total}]]


def test_an_sqlite_file_has_the_same_facts_and_is_sound(files, truth):
    assert in_sqlite(files / "f.sqlite", COUNTS) == truth
    waybill("verify", files / "f.sqlite")


def test_two_incremental_runs_export_each_fact_once(collected, total, tmp_path):
    for _ in range(2):
        waybill("export", collected, "--incremental", tmp_path / "lake", "--gzip")
    found = in_duckdb(f"""SELECT count(*) AS rows, count(DISTINCT (source, sequence)) AS facts
        FROM waybill_ndjson('{tmp_path}/lake/facts/*.gz')""")
    assert found == [[{"rows": total, "facts": total}]]


@pytest.fixture(scope="module")
def logins(collected):
    """How many were begun, and how many succeeded."""
    view = "SELECT count(*), sum(outcome = 'succeeded') FROM transactions WHERE NOT waiting_for_beginner"
    return in_sqlite(collected / "waybill.sqlite", view)[0]


@pytest.fixture(params=["file", "lake"])
def ask(request, files):
    return lambda question: in_duckdb(
        f".read {ANALYSIS}/{request.param}.duckdb.sql", f".read {ANALYSIS}/transactions.sql",
        f".read {ANALYSIS}/{question}.sql", FACTS=str(files / "f.ndjson"), LAKE=str(files / "lake"))[-1]


def test_durations_are_those_of_every_login_that_succeeded(ask, logins):
    rows = ask("duration")
    assert [row["variant"] for row in rows] == ["A", "B"]
    assert sum(row["succeeded"] for row in rows) == logins[1]
    assert all(0 < row["p50_ms"] <= row["p95_ms"] for row in rows)


def test_the_funnel_narrows_from_all_that_were_begun_to_those_that_succeeded(ask, logins):
    reached = [row["reached"] for row in ask("funnel")]
    assert (reached[0], reached[-1]) == logins
    assert reached == sorted(reached, reverse=True), "no step has more than the one before"


def test_the_difference_is_that_of_the_logins_and_lies_within_its_interval(ask, logins):
    row, = ask("difference")
    assert row["a"] + row["b"] == logins[0], "every login has a variant"
    assert round(row["a"] * row["success_a"] + row["b"] * row["success_b"]) == logins[1], "the rates are theirs"
    assert row["low"] < row["difference"] < row["high"] and row["answer"]
