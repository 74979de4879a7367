"""A collector's store of a million transactions for bench.py: made once, from ten thousand that it took in as sets.

The copies are rows as taking them in would make them, each six hours later than the one before, by launches and
servers of their own.
"""
import random
import sqlite3

import sets
from waybill import Collector

VERSIONS = [("4.1.0 (1102)", "17.7"), ("4.2.0 (1187)", "18.5"), ("4.2.0 (1187)", "18.6"), ("4.3.0 (1240)", "26.1")]
SPAN = 6 * 3600 * 1_000_000
OPEN = 25
RARE = 2000


def fill(folder, copies=100, each=10_000):
    """A store of `copies` times `each` transactions in `folder`, whose newest began just now."""
    folder.mkdir(parents=True)
    with Collector(folder, roles=["ingest"]) as server:
        server.post(*recorded(sets.now() - copies * SPAN, each))
    multiply(folder / "waybill.sqlite", copies)


def recorded(begun, count):
    """Launches with twenty transactions each; two servers that saw the logins."""
    random.seed(8)
    launches = count // 20
    servers = [
        sets.Recorder({**sets.SERVER, "app_version": version}, begun - 3_600_000_000) for version in ("2.8", "2.9")]
    made = 0
    for launch in range(launches):
        version, system = random.choice(VERSIONS)
        about = {**sets.APP, "app_version": version, "os_version": system, "device": f"iPhone17,{random.randint(1, 4)}"}
        started = begun + launch * SPAN // launches
        app = sets.Recorder(about, started)
        for index in range(20):
            at = index * 40_000_000 + random.randint(0, 20_000_000)
            if made % OPEN == 7:
                left_open(app, at)
            elif index % 4 == 3:
                sets.purchase(app, at, is_declined=made % RARE == 3)
            elif index % 10 == 5:
                browse(app, at, isolated=made % RARE == 5)
            else:
                # The server's clock began an hour earlier.
                sets.login(app, servers[made % 2], at, random.random() > .1, app.started - servers[made % 2].started)
            made += 1
        body = app.set()
        body["sources"][0]["ended"] = launch % 3 > 0
        yield body
        if launch % 50 == 49:
            for server in servers:
                yield server.set()
                server.forget()


def left_open(app, at):
    app.open(at, sets.guid(), 1, attributes={"cart": "left"})
    app.add(at + 50_000, "event", event=0)


def browse(app, at, isolated):
    """A sync without requests; one in a few hundred says what nothing else says."""
    app.open(at, sets.guid(), 2, attributes={"marker": "one in ten thousand"} if isolated else {"tab": "all"})
    for index in range(random.randint(1, 6)):
        app.add(at + 1000 * index + 900, "event", event=0)
    if isolated:
        error = {"domain": "SyncError", "code": 77, "text": "two versions of one item"}
        app.add(at + 20_000, "event", event=1, error=error)
    outcome = random.choice(["succeeded"] * 8 + ["cancelled", "abandoned"])
    app.add(at + random.randint(30_000, 3_000_000), "finished", outcome=outcome)


def multiply(file, copies):
    database = sqlite3.connect(file, isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -400000"):
        database.execute(f"PRAGMA {pragma}").fetchall()
    highest = database.execute("SELECT max(id) FROM sources").fetchone()[0]
    tables = [name for name, in database.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    # The last byte tells the copies apart; 00 is the first.
    for table, columns in (("sources", ["uuid"]), ("parts", ["guid", "cause_source"])):
        for column in columns:
            database.execute(f"UPDATE {table} SET {column} = {numbered(column, 0)} WHERE {column} IS NOT NULL")
    for copy in range(1, copies):
        database.execute("BEGIN")
        for table in tables:
            # Those that are computed cannot be written, and an `arrivals.id` is given anew.
            columns = [row[1] for row in database.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0]
            if table != "sources" and "source" not in columns or table == "bodies":
                continue
            columns = [column for column in columns if (table, column) != ("arrivals", "id")]
            key = "id" if table == "sources" else "source"
            values = ", ".join(copied(column, copy, highest) for column in columns)
            others = [other for other in ("part", "sequence", "first") if other in columns]
            database.execute(
                f"INSERT INTO {table}({', '.join(columns)}) SELECT {values} FROM {table} WHERE {key} <= {highest} "
                f"ORDER BY {', '.join([key, *others[:1]])}")
        database.execute("COMMIT")
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    database.close()


def numbered(column, copy):
    return f"CASE WHEN {column} IS NOT NULL THEN CAST(substr({column}, 1, 15) || x'{copy:02x}' AS BLOB) END"


def copied(column, copy, highest):
    if column in ("source", "id"):
        return f"{column} + {copy * highest}"
    if column in ("guid", "uuid", "cause_source"):
        return numbered(column, copy)
    if column in ("listed_us", "offset_us", "received_us", "heard_us"):
        return f"{column} + {copy * SPAN}"
    return column
