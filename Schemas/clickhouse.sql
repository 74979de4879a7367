-- Waybill's tables in a ClickHouse database. `waybill migrate clickhouse://host:8123/waybill` creates them.
--
-- Version 1. A version adds tables or columns, and changes none. On a cluster the engines are replicated. `facts`, `by_source`,
-- `children`, `begun`, `transactions` and `spans` are then Distributed tables over `facts_local` and so on, by cityHash64 of source, parent or
-- tx, and every server has the other tables whole.
-- IDs are FixedString(16), the most significant byte first, because ClickHouse orders a UUID by its second half.
-- Integers that end in _us are microseconds: since 1970, but at_us, which counts from the start of the source.
-- Until parts are merged, a row appears as often as it was inserted. Read one row of each key.

CREATE TABLE schema_versions ( -- which versions of this schema were made here
  version UInt32, -- from 1
  made DateTime DEFAULT now(), -- by the server's clock
) ENGINE = ReplacingMergeTree()
ORDER BY (version)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

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
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

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
SETTINGS index_granularity = 128, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE by_source ( -- the same facts by their sources
  source FixedString(16), -- as in `facts`
  sequence Int64 CODEC(Delta, ZSTD), -- as in `facts`
  tx FixedString(16), -- as in `facts`
  kind UInt8, -- as in `facts`
  at_us Int64 CODEC(Delta, ZSTD), -- as in `facts`
  INDEX at at_us TYPE minmax GRANULARITY 1,
) ENGINE = ReplacingMergeTree()
ORDER BY (source, sequence)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE children ( -- the transactions that others began
  parent FixedString(16), -- the other transaction
  child FixedString(16), -- the transaction; it stays when facts are erased
) ENGINE = ReplacingMergeTree()
ORDER BY (parent, child)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE begun ( -- when transactions began; a later clock of their source adds another time
  begun_us Int64 CODEC(Delta, ZSTD), -- by the source that leads it
  tx FixedString(16), -- the transaction; it stays when facts are erased
) ENGINE = ReplacingMergeTree()
ORDER BY (begun_us, tx)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

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
  took_us Int64 CODEC(ZSTD), -- from the opening to the closing; -9007199254740991: open
  shortest_us Int64 CODEC(ZSTD), -- the same; 9007199254740991: open
  outcome UInt8, -- as in SQLite
  timeout_us Int64, -- a duration
  last_us Int64 CODEC(Delta, ZSTD), -- the last activity
  sample_ppm Int64 CODEC(ZSTD), -- -1: none
  sample_kept Int64 CODEC(ZSTD),
  slow_us Int64 CODEC(ZSTD), -- -1: none
  has_error UInt8, -- 1: with an error
  error_code Int64, -- of the error
  error String CODEC(ZSTD), -- JSON: the rest of it
  error_identity String CODEC(ZSTD), -- domain, name or code, and innermost cause
  parent FixedString(16), -- zeros: none
  listed String CODEC(ZSTD), -- what lists show, for Waybill
  attribute_names Array(String) CODEC(ZSTD), -- latest values
  attribute_values Array(String) CODEC(ZSTD),
  said Array(String) CODEC(ZSTD), -- names and values, for filters
  texts String CODEC(ZSTD), -- for searches, with zero bytes between them
  sources Array(FixedString(16)) CODEC(ZSTD), -- of all parts, the leading one first
  installations Array(FixedString(16)) CODEC(ZSTD), -- zeros: none
  apps Array(String) CODEC(ZSTD), -- of `sources`, as the next ones
  app_versions Array(String) CODEC(ZSTD),
  devices Array(String) CODEC(ZSTD),
  oses Array(String) CODEC(ZSTD),
  os_versions Array(String) CODEC(ZSTD),
  ended_by Array(String) CODEC(ZSTD), -- empty: unknown
  source_ranks Array(Int64) CODEC(ZSTD), -- their first `arrival`, which sorts ties
  part_sources Array(Int64) CODEC(ZSTD), -- indexes in `sources`, from 0
  part_use_cases Array(Int64) CODEC(ZSTD),
  event_parts Array(Int64) CODEC(ZSTD), -- indexes in `part_sources`, from 0
  event_codes Array(Int64) CODEC(Delta, ZSTD),
  unsuccessful_events Array(Int64) CODEC(ZSTD), -- code * 16 + outcome, unless it succeeded
  exchange_parts Array(Int64) CODEC(ZSTD), -- indexes in `part_sources`, from 0
  exchange_sequences Array(Int64) CODEC(Delta, ZSTD),
  exchange_opened_us Array(Int64) CODEC(Delta, ZSTD), -- of the opening
  exchange_took_us Array(Int64) CODEC(ZSTD), -- smallest number: open
  exchange_methods Array(String) CODEC(ZSTD),
  exchange_hosts Array(String) CODEC(ZSTD), -- a zero byte: none
  exchange_paths Array(String) CODEC(ZSTD),
  exchange_states Array(Int64) CODEC(ZSTD), -- 0 in progress, 1 completed, 2 failed, 3 cancelled, 4 mocked, 5 interrupted
  exchange_statuses Array(Int64) CODEC(ZSTD), -- -1: none
  exchange_received Array(Int64) CODEC(Delta, ZSTD), -- -1: unknown
  exchange_close_codes Array(Int64) CODEC(ZSTD), -- -1: none
  exchange_texts Array(String) CODEC(ZSTD), -- for searches
  timeline String CODEC(ZSTD), -- parts and events, for Waybill
  exchanges Array(String) CODEC(ZSTD), -- for Waybill
  error_exchanges Array(Int64) CODEC(ZSTD), -- indexes from 1; 0: of a part or event
  error_codes Array(Int64) CODEC(ZSTD),
  error_domains Array(String) CODEC(ZSTD),
  error_names Array(String) CODEC(ZSTD),
  error_texts Array(String) CODEC(ZSTD), -- empty for underlying errors
  INDEX begun begun_us TYPE minmax GRANULARITY 1,
  INDEX said said TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX texts texts TYPE ngrambf_v1(4, 8192, 2, 0) GRANULARITY 1,
  INDEX longest took_us TYPE minmax GRANULARITY 1,
  INDEX shortest shortest_us TYPE minmax GRANULARITY 1,
  INDEX joined joined TYPE minmax GRANULARITY 1,
  INDEX outcome outcome TYPE set(8) GRANULARITY 1,
  INDEX sampled sample_ppm TYPE minmax GRANULARITY 1,
  INDEX statuses arrayReduce('max', exchange_statuses) TYPE minmax GRANULARITY 1,
  INDEX value_1 use_case TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_2 event_codes TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_3 unsuccessful_events TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_4 error_codes TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_5 exchange_states TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_6 sources[1] TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_7 installations[1] TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_8 lower(apps[1]) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_9 lower(app_versions[1]) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_10 lower(devices[1]) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX value_11 lower(os_versions[1]) TYPE bloom_filter(0.01) GRANULARITY 1,
) ENGINE = ReplacingMergeTree(version)
ORDER BY (tx)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE changed ( -- transactions with outdated rows
  place Int64 CODEC(Delta, ZSTD), -- of the change, numbered as `arrival`
  state UInt8, -- 0 being written, 1 written, 2 rows are made, 3 read the facts
  transactions Array(FixedString(16)) CODEC(ZSTD), -- changed ones
) ENGINE = ReplacingMergeTree()
PARTITION BY intDiv(place, 442368000000)
ORDER BY (place, state)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE spans ( -- OTLP spans; of the rows of a span, the last one that counts
  tx FixedString(16), -- the transaction
  source FixedString(16), -- of its facts
  span UInt64, -- the ID
  version Int64 CODEC(Delta, ZSTD), -- as `place`
  state UInt8, -- 0 it waits for a part, 1 counts as `fact` does, 2 its wait is over, 3 gone
  parent UInt64, -- 0: none
  kind UInt8, -- as in OTLP; 0: not arrived
  part Int64 CODEC(Delta, ZSTD), -- as in `facts`
  fact Int64 CODEC(Delta, ZSTD), -- sequence of its first fact; 0: none
  received_us Int64 CODEC(Delta, ZSTD),
  waiting String CODEC(ZSTD), -- its facts as a set, while it waits
  original String CODEC(ZSTD), -- redacted OTLP JSON
) ENGINE = ReplacingMergeTree()
ORDER BY (tx, source, span, version)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE legacy_sets ( -- sets of version 0.0.1, which have no ID
  digest FixedString(32), -- SHA-256 of the body
  received_us Int64 CODEC(Delta, ZSTD),
) ENGINE = ReplacingMergeTree()
ORDER BY (digest, received_us)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE installations ( -- the first secret of each installation
  guid FixedString(16), -- the installation's; zeros: the database's own, for spans
  arrival Int64, -- as in `books`: the smallest counts
  proof String, -- SHA-256 of the secret; empty: there was none
) ENGINE = ReplacingMergeTree()
ORDER BY (guid, arrival)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE commits ( -- the numbers that processes have used
  place Int64 CODEC(Delta, ZSTD), -- the last `arrival` of an insert into `books`
) ENGINE = ReplacingMergeTree()
ORDER BY (place)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

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
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE erased ( -- of which nothing is taken in any more
  guid FixedString(16), -- an installation's or a transaction's
  with_installation UInt8, -- 1: a transaction that went with the installation that began it
  at_us Int64, -- when
  proof String, -- SHA-256 of the installation's secret; empty: it has shown none
) ENGINE = ReplacingMergeTree()
ORDER BY (guid, with_installation)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE removals ( -- rows of erased facts, which servers take away
  id FixedString(16), -- of this removal
  target String, -- the table: facts, by_source, spans or books
  condition String, -- SQL: which rows
  at_us Int64, -- when
  done UInt8, -- 1: they are gone from every server
) ENGINE = ReplacingMergeTree(done)
ORDER BY (id)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;
