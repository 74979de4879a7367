-- Waybill's tables in a ClickHouse database. `waybill migrate clickhouse://host:8123/waybill` creates them.
--
-- Version 1. A version adds tables or columns, and changes none. On a cluster the engines are replicated. `facts`, `by_source`,
-- `children`, `begun` and `transactions` are then Distributed tables over `facts_local` and so on, by cityHash64 of source, parent or
-- tx, and every server has the other tables whole.
-- IDs are FixedString(16), the most significant byte first, because ClickHouse orders a UUID by its second half.
-- Integers that end in _us are microseconds: since 1970, but at_us, which counts from the start of the source.
-- Until parts are merged, a row appears as often as it was inserted. Read one row of each key.

CREATE TABLE schema_versions ( -- which versions of this schema were made here
  version UInt32, -- from 1
  made DateTime DEFAULT now(), -- by the server's clock
) ENGINE = ReplacingMergeTree()
ORDER BY (version)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE facts ( -- what was recorded: written once, never changed, known by source and sequence
  week UInt16, -- of the transaction's ID, since 1970; 0: of none, or of no time near its arrival
  tx FixedString(16), -- the transaction; zeros: of none, or its opening had not arrived
  source FixedString(16), -- who recorded it; zeros: a row that only has a removal end
  sequence Int64 CODEC(Delta, ZSTD), -- of the fact in its source
  part Int64 CODEC(Delta, ZSTD), -- the sequence of the opening of its part; 0: outside any
  kind UInt8, -- 1 opened, 2 event, 3 attributes set, 4 closed, 5 exchange opened, 6 exchange closed
  at_us Int64 CODEC(Delta, ZSTD), -- since its source started
  use_case Int64 CODEC(ZSTD), -- the transaction's; -1: not known
  fact String CODEC(ZSTD), -- JSON as in sets: see fact.v1.schema.json
) ENGINE = ReplacingMergeTree()
PARTITION BY week
ORDER BY (tx, source, sequence)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE books ( -- what sets, erasures and retirements left of a source; a fact counts once an arrival here names it
  source FixedString(16), -- whose; zeros: a row that only has a removal end
  arrival Int64 CODEC(Delta, ZSTD), -- of which no two rows have the same: later ones are larger
  installation FixedString(16), -- the source's; zeros: none
  heard_us Int64 CODEC(Delta, ZSTD), -- when it was last heard of
  proof String, -- SHA-256 of the source's secret; empty: it has shown none
  installation_proof String, -- the same of the installation's
  share String CODEC(ZSTD), -- JSON: a set with this source alone, without facts and names
  arrived Array(Int64), -- first, last, received_us; first, last, received_us; and so on
  retired Array(Int64), -- first, last; and so on: received, and taken away to keep within limits
  inserted DateTime DEFAULT now(), -- by the server's clock
) ENGINE = ReplacingMergeTree()
ORDER BY (source, arrival)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE by_source ( -- the same facts by their sources
  source FixedString(16), -- as in `facts`
  sequence Int64 CODEC(Delta, ZSTD), -- as in `facts`
  tx FixedString(16), -- as in `facts`
  kind UInt8, -- as in `facts`
  at_us Int64 CODEC(Delta, ZSTD), -- as in `facts`
) ENGINE = ReplacingMergeTree()
ORDER BY (source, sequence)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE children ( -- the transactions that others began
  parent FixedString(16), -- the other transaction
  child FixedString(16), -- the transaction; it stays when facts are erased
) ENGINE = ReplacingMergeTree()
ORDER BY (parent, child)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE begun ( -- when transactions began; a later clock of their source adds another time
  begun_us Int64 CODEC(Delta, ZSTD), -- by the source that leads it
  tx FixedString(16), -- the transaction; it stays when facts are erased
) ENGINE = ReplacingMergeTree()
ORDER BY (begun_us, tx)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE transactions ( -- made of facts; the row of a transaction with the largest version counts
  tx FixedString(16), -- the transaction
  version Int64 CODEC(Delta, ZSTD), -- as `place`
  gone UInt8, -- 1: it has no facts left
  joined UInt8, -- 1: its beginner is unknown
  source FixedString(16), -- of the leading part, as all columns before `attribute_names`
  sequence Int64 CODEC(Delta, ZSTD), -- of the opening
  use_case Int64, -- the code
  at_us Int64 CODEC(Delta, ZSTD), -- of the opening
  begun_us Int64 CODEC(Delta, ZSTD), -- when it began
  closed Int64 CODEC(Delta, ZSTD), -- sequence of the closing; 0: open
  closed_at_us Int64 CODEC(Delta, ZSTD), -- of the closing, as `at_us`
  outcome UInt8, -- as in SQLite
  timeout_us Int64, -- a duration
  last_us Int64 CODEC(Delta, ZSTD), -- the last activity
  has_error UInt8, -- 1: with an error
  error_code Int64, -- of the error
  error String CODEC(ZSTD), -- JSON: the rest of it
  sample_ppm Int64, -- as in SQLite; -1: none
  sample_kept UInt8, -- as in SQLite
  slow_us Int64, -- as in SQLite; -1: none
  installation FixedString(16), -- zeros: none
  device String, -- of the source
  os String, -- of the source
  os_version String, -- of the source
  ended_by String, -- empty: unknown
  attribute_names Array(String) CODEC(ZSTD), -- of the latest values
  attribute_values Array(String) CODEC(ZSTD), -- JSON objects
  said Array(String) CODEC(ZSTD), -- names and values, for filters
  sources Array(FixedString(16)) CODEC(ZSTD), -- of all parts, the leading one first
  apps Array(String) CODEC(ZSTD), -- of `sources`
  app_versions Array(String) CODEC(ZSTD), -- of `sources`
  clock_sources Array(Int64) CODEC(ZSTD), -- indexes in `sources`, from 0
  clock_at Array(Int64) CODEC(Delta, ZSTD), -- anchors, as `at_us`
  clock_offsets Array(Int64) CODEC(Delta, ZSTD), -- microseconds
  part_sources Array(Int64) CODEC(ZSTD), -- indexes in `sources`, from 0
  part_use_cases Array(Int64) CODEC(ZSTD), -- codes
  event_parts Array(Int64) CODEC(ZSTD), -- indexes in `part_sources`, from 0
  event_sequences Array(Int64) CODEC(Delta, ZSTD), -- of events
  event_at Array(Int64) CODEC(Delta, ZSTD), -- of events, as `at_us`
  event_codes Array(Int64) CODEC(Delta, ZSTD), -- of events
) ENGINE = ReplacingMergeTree(version)
ORDER BY (tx)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE changed ( -- transactions with outdated rows
  place Int64 CODEC(Delta, ZSTD), -- of the change, numbered as `arrival`
  state UInt8, -- 0 being written, 1 written, 2 rows are made, 3 read the facts
  transactions Array(FixedString(16)) CODEC(ZSTD), -- changed ones
) ENGINE = ReplacingMergeTree()
PARTITION BY intDiv(place, 442368000000)
ORDER BY (place, state)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE installations ( -- the first secret of each installation
  guid FixedString(16), -- the installation's
  arrival Int64, -- as in `books`: the smallest counts
  proof String, -- SHA-256 of the secret; empty: there was none
) ENGINE = ReplacingMergeTree()
ORDER BY (guid, arrival)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE commits ( -- the numbers that processes have used
  place Int64 CODEC(Delta, ZSTD), -- the last `arrival` of an insert into `books`
) ENGINE = ReplacingMergeTree()
ORDER BY (place)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE names ( -- what a version of an app calls a code
  use_case Int64, -- the code
  event Int64, -- -1: the use case itself
  app String, -- whose it is
  app_version String, -- of which it is said
  name String, -- as the app says it
  removed UInt8, -- 1: nothing is left that it is of
  arrival Int64, -- as in `books`: the largest of a key counts
) ENGINE = ReplacingMergeTree(arrival)
ORDER BY (use_case, event, app, app_version, name)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE erased ( -- of which nothing is taken in any more
  guid FixedString(16), -- an installation's or a transaction's
  with_installation UInt8, -- 1: a transaction that went with the installation that began it
  at_us Int64, -- when
  proof String, -- SHA-256 of the installation's secret; empty: it has shown none
) ENGINE = ReplacingMergeTree()
ORDER BY (guid, with_installation)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE removals ( -- rows of erased facts, which servers take away
  id FixedString(16), -- of this removal
  target String, -- the table: facts, by_source or books
  condition String, -- SQL: which rows
  at_us Int64, -- when
  done UInt8, -- 1: they are gone from every server
) ENGINE = ReplacingMergeTree(done)
ORDER BY (id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
