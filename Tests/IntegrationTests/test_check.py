"""`waybill check`: a build stops where a budget is broken, where nothing was measured, and where the file is wrong."""
import datetime
import json
import subprocess

import pytest
from waybill import TIMEOUT, WAYBILL, waybill


@pytest.fixture(scope="module")
def store(sample_store):
    return sample_store / "sample.sqlite"


def check(folder, store, budgets, *options):
    file = folder / "budgets.json"
    file.write_text(budgets if isinstance(budgets, str) else json.dumps(budgets))
    return subprocess.run(
        [str(WAYBILL), "check", str(file), str(store), *options], capture_output=True, text=True, timeout=TIMEOUT)


def found(store, use_case):
    """The p95 of successes in microseconds, and the percentage of failures."""
    summary = json.loads(waybill("ask", "summary", store, "--use-case", use_case, "--json"))["use_cases"][0]
    ended = sum(count for outcome, count in summary["outcomes"].items() if outcome != "open")
    return summary["succeeded"]["p95_us"], 100 * summary["outcomes"]["failed"] / ended


def test_the_verdict_turns_at_what_was_measured(tmp_path, store):
    took, failed = found(store, "login")
    for offset, verdict, status in [(1, "holds", 0), (-1, "broken", 1)]:
        budgets = [{"use_case": "login", "p95_ms": (took + offset) / 1000, "failed_percent": failed + offset / 1000}]
        done = check(tmp_path, store, budgets, "--json")
        assert done.returncode == status, done.stderr
        assert [limit["verdict"] for limit in json.loads(done.stdout)] == [verdict] * 2


def test_a_new_error_breaks_a_budget_and_is_named(tmp_path, store):
    # The voucher's error occurs in the last of fourteen days only, the sold-out item's since the sixth.
    errors = json.loads(waybill("ask", "errors", store, "--use-case", "checkout", "--json"))["errors"]
    first = {error["error"]["domain"]: error["first_us"] for error in errors}
    day = datetime.datetime.fromtimestamp(first["VoucherError"] / 1e6, datetime.timezone.utc)
    since = day.strftime("%Y-%m-%dT%H:%M:%SZ")
    done = check(tmp_path, store, [{"use_case": "checkout", "no_new_errors_since": since}])
    assert done.returncode == 1 and "broken" in done.stdout
    assert "VoucherError" in done.stdout and "ShopError" not in done.stdout


@pytest.mark.parametrize("limit", [{"p95_ms": 1}, {"failed_percent": 50}, {"no_new_errors_since": "24h"}])
def test_a_budget_for_which_nothing_counts_does_not_hold(tmp_path, store, limit):
    done = check(tmp_path, store, [{"use_case": "login", "filter": "version:99", **limit}])
    assert done.returncode == 1 and "undecided" in done.stdout


@pytest.mark.parametrize("budgets, word", [
    ("{", "no list of budgets"),
    ("[" * 100_000, "no list of budgets"),
    (" " * (1 << 20) + "[]", "more than"),
    ([], "no limit"),
    ([{"use_case": "login"}], "no limit"),
    ([{"use_case": "login", "p59_ms": 4, "p95_ms": 1}], "p59_ms"),
    ([{"use_case": "login", "p95_ms": "fast"}], "no list of budgets"),
    ([{"use_case": "no such", "p95_ms": 1}], "no such"),
    ([{"use_case": "login", "no_new_errors_since": "soon"}], "soon"),
])
def test_a_mistake_in_the_file_is_named(tmp_path, store, budgets, word):
    done = check(tmp_path, store, budgets)
    assert done.returncode not in (0, -6, -11) and word in done.stderr, done.stderr
