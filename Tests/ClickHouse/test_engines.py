"""Whether the engines that other tests rely on are what those take them for: both, used as a client does."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from engines import Engine, Refusal, Skipped, post, row

USER = ("waybill", "a b'c")
COLUMNS = "source FixedString(16), sequence Int64, detail String, version UInt64"
ORDER = "ORDER BY (source, sequence)"


def rows(count, version=1, source=b"\xff\x00\n'" * 4):
    """With every byte that a text would be cut at or quoted."""
    everything = bytes(range(256)).decode("latin-1")
    return b"".join(row(source, sequence, everything + str(sequence), version) for sequence in range(count))


def started(which):
    try:
        return Engine(which, "--user", ":".join(USER))
    except Skipped as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def one():
    with started("one") as engine:
        yield engine


@pytest.fixture(scope="module")
def cluster():
    with started("cluster") as engine:
        yield engine


@pytest.fixture(scope="module", params=["one", "cluster"])
def engine(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def table(engine):
    """In a database of its own, on every node; each shard has its own rows."""
    database = "d" + os.urandom(6).hex()
    kind = (
        "ReplacingMergeTree(version)"
        if len(engine.nodes) == 1
        else f"ReplicatedReplacingMergeTree('/{database}/{{shard}}/t', '{{replica}}', version)"
    )
    for node in engine.nodes:
        engine.post(f"CREATE DATABASE {database}", node=node)
        engine.post(f"CREATE TABLE {database}.t ({COLUMNS}) ENGINE = {kind} {ORDER}", node=node)
    return f"{database}.t"


def count(engine, table, node="1.1"):
    return int(engine.post(f"SELECT count() FROM {table} FINAL", node=node))


def test_bytes_come_back_as_they_went_in(engine, table):
    sent = rows(3000)
    engine.post(f"INSERT INTO {table} (source, sequence, detail, version) FORMAT RowBinary", sent)
    assert engine.post(f"SELECT * FROM {table} {ORDER} FORMAT RowBinary") == sent


def test_a_row_sent_again_replaces_by_its_version_whatever_came_last(engine, table):
    for version in (1, 3, 2):
        engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(100, version))
    assert engine.post(f"SELECT * FROM {table} FINAL {ORDER} FORMAT RowBinary") == rows(100, version=3)


def test_without_final_rows_sent_twice_are_there_twice(engine, table):
    engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(100, 1))
    engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(100, 2))
    # A merge may have come before; then there is nothing to tell them apart by, and no test may count on that.
    assert int(engine.post(f"SELECT count() FROM {table}")) in (100, 200)
    assert count(engine, table) == 100


def test_a_body_that_ends_too_early_is_refused(engine, table):
    with pytest.raises(Refusal) as refused:
        engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(10)[:-1])
    assert refused.value.code == 33 and refused.value.status == 500


def test_refusals_have_a_code_and_a_status(engine):
    for query, code, status in (("SELECT count() FROM nowhere", 60, 404), ("SELEC 1", 62, 400)):
        with pytest.raises(Refusal) as refused:
            engine.post(query)
        assert (refused.value.code, refused.value.status) == (code, status)
    with pytest.raises(Refusal) as refused:
        engine.post("SELECT 1", no_such_setting=1)
    assert refused.value.code == 115


def test_only_who_knows_the_password_is_let_in(engine):
    assert engine.post("SELECT 1", user=USER) == b"1\n"
    for user in ((USER[0], "wrong"), (USER[0], ""), ("nobody", "")):
        with pytest.raises(Refusal) as refused:
            engine.post("SELECT 1", user=user)
        assert refused.value.status in (401, 403)


def test_a_setting_holds_for_its_request_alone(engine):
    asked = "SELECT value, changed FROM system.settings WHERE name = 'max_block_size'"
    before = engine.post(asked)
    assert engine.post(asked, max_block_size=1234) == b"1234\t1\n"
    assert engine.post(asked) == before


def test_requests_at_once_do_not_mix(engine, table):
    def insert(number):
        source = bytes([number]) * 16
        engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(50, source=source))
        return engine.post(
            f"SELECT * FROM {table} FINAL WHERE source = unhex('{source.hex()}') {ORDER} FORMAT RowBinary",
            max_threads=1 + number % 2,
        ) == rows(50, source=source)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(insert, range(40)))
    assert count(engine, table) == 40 * 50


def test_one_is_current_and_inserts_before_it_answers(one):
    assert int(one.about["version"].split(".")[0]) >= 25
    assert one.post("SELECT value FROM system.settings WHERE name = 'async_insert'") == b"0\n"


@pytest.mark.parametrize("engine", ["cluster"], indirect=True)
class TestCluster:
    def test_replicas_share_and_shards_do_not(self, engine, table):
        engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(100), node="1.1", insert_quorum=2)
        assert [count(engine, table, node) for node in ("1.1", "1.2", "2.1", "2.2")] == [100, 100, 0, 0]
        everywhere = table.replace(".t", ".everywhere")
        engine.post(
            f"CREATE TABLE {everywhere} AS {table} ENGINE = Distributed(waybill, {table.replace('.', ', ')})",
            node="2.2",
        )
        assert count(engine, everywhere, node="2.2") == 100

    def test_the_same_bytes_sent_to_another_replica_are_kept_once(self, engine, table):
        for node in ("1.1", "1.2"):
            engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(100), node=node, insert_quorum=2)
        assert engine.await_equal(f"SELECT count() FROM {table}", ["1.1", "1.2"]) == b"100\n"

    def test_a_killed_replica_catches_up(self, engine, table):
        engine.do("kill 1.2")
        with pytest.raises(OSError):
            count(engine, table, node="1.2")
        engine.post(f"INSERT INTO {table} FORMAT RowBinary", rows(100))
        engine.do("start 1.2")
        assert engine.await_equal(f"SELECT count() FROM {table}", ["1.1", "1.2"]) == b"100\n"

    def test_below_the_quorum_an_insert_is_not_acknowledged_and_its_retry_is_exact(self, engine, table):
        insert = dict(
            query=f"INSERT INTO {table} FORMAT RowBinary", data=rows(100), insert_quorum=2, insert_quorum_timeout=1000
        )
        engine.do("kill 1.2")
        with pytest.raises(Refusal) as refused:
            engine.post(**insert)
        assert refused.value.code in (285, 319)  # too few live replicas, or written and not known whether to enough
        engine.do("start 1.2")
        engine.until_accepted(**insert)  # the replica waits until its former session is over, five seconds
        assert engine.await_equal(f"SELECT count() FROM {table}", ["1.1", "1.2"]) == b"100\n"

    def test_a_stopped_replica_does_not_answer_until_it_goes_on(self, engine, table):
        engine.do("stop 2.2")
        try:
            with pytest.raises(TimeoutError):
                post(engine.nodes["2.2"]["http"], "SELECT 1", timeout=0.5)
        finally:
            engine.do("cont 2.2")
        assert engine.post("SELECT 1", node="2.2") == b"1\n"
