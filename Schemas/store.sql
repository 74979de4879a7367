-- A Waybill store, version 1: one schema for an app's, a server's and a collector's.
-- SQLite 3.38 or later. Made by the library; a test keeps this page equal to it.
-- To look at one: sqlite3 -readonly -box waybill.sqlite 'SELECT * FROM transactions ORDER BY begun_us DESC LIMIT 20'
PRAGMA application_id = 1463961932; -- 'WBIL'
PRAGMA user_version = 1;

CREATE TABLE sources( -- running recorders: launches of a process
  id INTEGER PRIMARY KEY, -- in this file only
  uuid BLOB NOT NULL UNIQUE, -- 16 bytes
  installation BLOB, -- 16 bytes, or NULL
  app TEXT NOT NULL,
  app_version TEXT NOT NULL,
  device TEXT NOT NULL,
  os TEXT NOT NULL,
  os_version TEXT NOT NULL,
  attributes TEXT, -- JSON object, or NULL for none
  heard_us INTEGER, -- since 1970, when a set of it last arrived; NULL: it recorded into this very file
  recorded INTEGER NOT NULL DEFAULT 0, -- the highest sequence that it gave to a fact
  refused INTEGER NOT NULL DEFAULT 0, -- facts never taken, for want of room; without a sequence
  delivered INTEGER NOT NULL DEFAULT 0, -- booked with each verdict: here accepted by the collector, or there accepted from the source
  ended INTEGER NOT NULL DEFAULT 0, -- 1: what it left open was interrupted
  ended_by TEXT, -- exit, reboot, system, or a signal's name; NULL: unknown
  news INTEGER NOT NULL DEFAULT 0, -- data other than facts that the collector lacks: 0 none, 1 some, 2 some, in a leased set
  told INTEGER NOT NULL DEFAULT 0, -- own: the collector knows the dropped ranges up to this sequence
  dropped_rows INTEGER NOT NULL DEFAULT 0, -- number of its rows in `dropped`
  born_us INTEGER NOT NULL DEFAULT 0, -- own: device_time.seen_us when it was registered
  proof TEXT, -- own: the secret that its sets carry
  proof_hash BLOB -- received: SHA-256 of the first sender's secret; NULL: it had none
) STRICT;

CREATE TABLE clocks( -- since 1970 = since the source started + offset_us, from at_us to the next row
  source INTEGER NOT NULL, -- sources.id
  at_us INTEGER NOT NULL,
  offset_us INTEGER NOT NULL,
  PRIMARY KEY(source, at_us)
) STRICT, WITHOUT ROWID;

CREATE TABLE names( -- what a version of an app calls a code
  use_case INTEGER NOT NULL,
  event INTEGER NOT NULL, -- -1: the use case itself
  app TEXT NOT NULL,
  app_version TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY(use_case, event, app, app_version, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX names_of_launches ON names(app_version) WHERE instr(app_version, char(1));

CREATE TABLE parts( -- one source's share in a transaction; part 0 holds what is outside any transaction
  source INTEGER NOT NULL, -- sources.id
  sequence INTEGER NOT NULL, -- of the fact `opened`
  guid BLOB, -- the transaction's, 16 bytes; NULL: the fact `opened` has not arrived
  use_case INTEGER,
  joined INTEGER, -- 0: it began the transaction
  parent BLOB, -- the parent transaction, 16 bytes; NULL: none
  parent_part INTEGER, -- the same source's part of the parent transaction; NULL: another source has it
  own_timeout_us INTEGER, -- NULL: 24 hours
  at_us INTEGER,
  cause_source BLOB, -- the exchange that caused a joined part: its source's uuid,
  cause INTEGER, -- and its sequence
  opened_detail TEXT, -- JSON: attributes
  closed INTEGER, -- sequence of the fact `closed`; NULL: not closed
  closed_at_us INTEGER,
  error_code INTEGER,
  closed_detail TEXT, -- JSON: attributes, error_domain, error_text
  outcome INTEGER NOT NULL, -- 0 open, 1 succeeded, 2 failed, 3 cancelled, 4 abandoned; derived without a fact `closed`: 5 interrupted
  listed_us INTEGER, -- derived: since 1970, when the transaction began; only in its leading part
  beyond INTEGER, -- derived: the highest sequence of its facts, where that is not `closed`
  beyond_at_us INTEGER, -- derived: their latest time, where that is not `closed_at_us`
  settled INTEGER NOT NULL, -- derived: 1 when none of its facts is pending
  sample_ppm INTEGER, -- the sampling rate in millionths; NULL: not sampled
  sample_kept INTEGER, -- 1: not chosen, and delivered only if its end requires it; NULL: not sampled
  slow_us INTEGER, -- with sample_ppm: longer parts are slow; NULL: no limit
  held INTEGER NOT NULL DEFAULT 0, -- own: 1 while it is open and was not chosen: not leased
  timeout_us INTEGER AS (ifnull(own_timeout_us, 86400000000)),
  last INTEGER AS (ifnull(beyond, closed)),
  last_at_us INTEGER AS (ifnull(beyond_at_us, closed_at_us)),
  duration_us INTEGER AS (closed_at_us - at_us),
  PRIMARY KEY(source, sequence)
) STRICT, WITHOUT ROWID;

CREATE INDEX parts_by_guid ON parts(guid) WHERE guid IS NOT NULL;

CREATE INDEX parts_by_parent ON parts(parent) WHERE parent IS NOT NULL;

CREATE INDEX parts_by_outcome ON parts(joined, outcome, listed_us) WHERE listed_us IS NOT NULL;

CREATE INDEX parts_by_use_case ON parts(use_case, joined, outcome, listed_us) WHERE listed_us IS NOT NULL;

CREATE INDEX parts_by_duration ON parts(joined, outcome, duration_us) WHERE listed_us IS NOT NULL AND duration_us IS NOT NULL;

CREATE INDEX parts_unsettled ON parts(source, sequence) WHERE settled = 0;

CREATE INDEX parts_held ON parts(source, sequence) WHERE held = 1;

CREATE INDEX parts_sampled ON parts(source) WHERE sample_ppm IS NOT NULL;

CREATE TABLE events(
  source INTEGER NOT NULL, -- sources.id
  part INTEGER NOT NULL, -- parts.sequence
  after INTEGER NOT NULL, -- its sequence, counted from the part's: a small number takes less room
  at_us INTEGER NOT NULL,
  code INTEGER NOT NULL,
  detail TEXT, -- JSON: attributes, error_domain, error_code, error_text
  sequence INTEGER AS (part + after),
  PRIMARY KEY(source, part, after)
) STRICT, WITHOUT ROWID;

CREATE TABLE exchanges( -- HTTP exchanges
  source INTEGER NOT NULL, -- sources.id
  part INTEGER NOT NULL, -- parts.sequence; 0: outside any transaction
  sequence INTEGER NOT NULL, -- of the fact `exchange_opened`
  at_us INTEGER,
  role INTEGER, -- 0 client, 1 server
  method TEXT, -- NULL: the fact `exchange_opened` has not arrived
  host TEXT,
  path TEXT,
  opened_detail TEXT, -- JSON: scheme, port, query, headers
  closed INTEGER, -- sequence of the fact `exchange_closed`; NULL: in progress
  closed_at_us INTEGER,
  state INTEGER, -- 1 completed, 2 failed, 3 cancelled
  status INTEGER,
  first_byte_us INTEGER,
  sent_bytes INTEGER,
  received_bytes INTEGER,
  error_code INTEGER,
  closed_detail TEXT, -- JSON: headers, error_domain, error_text
  PRIMARY KEY(source, part, sequence)
) STRICT, WITHOUT ROWID;

CREATE INDEX exchanges_by_closing ON exchanges(source, closed) WHERE closed IS NOT NULL;

CREATE INDEX exchanges_by_time ON exchanges(source, at_us, sequence) WHERE method IS NOT NULL;

CREATE TABLE bodies( -- of own exchanges, if asked for, redacted; a long one in several pieces. No facts: they stay in this file
  id INTEGER PRIMARY KEY, -- the older ones have the smaller numbers
  source INTEGER NOT NULL, -- sources.id
  exchange INTEGER NOT NULL, -- exchanges.sequence
  direction INTEGER NOT NULL, -- 0 request, 1 response
  piece INTEGER NOT NULL, -- from 0
  content_type TEXT,
  kept_bytes INTEGER NOT NULL, -- of this piece, before it was compressed
  byte_count INTEGER, -- in the last piece: of the whole body, as it was
  omission TEXT, -- in the last piece: limit, type, encoding, room, unfinished; NULL: it was kept whole
  hash BLOB, -- in the last piece of a body that was cut: 16 bytes, under a key of this store
  bytes BLOB NOT NULL -- zlib; in the shell: sqlar_uncompress(bytes, kept_bytes)
) STRICT;

CREATE UNIQUE INDEX bodies_by_exchange ON bodies(source, exchange, direction, piece);

CREATE TRIGGER bodies_go_with_their_exchange AFTER DELETE ON exchanges BEGIN
  DELETE FROM bodies WHERE source = old.source AND exchange = old.sequence;
END;

CREATE TABLE ranges( -- facts, by first and last sequence: claimed by a lease, or settled (own source), or received (any other)
  source INTEGER NOT NULL, -- sources.id
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  lease BLOB, -- leases.set_id; NULL: settled or received
  PRIMARY KEY(source, first)
) STRICT, WITHOUT ROWID;

CREATE INDEX ranges_leased ON ranges(lease) WHERE lease IS NOT NULL;

CREATE TABLE leases( -- the set that is being delivered
  set_id BLOB PRIMARY KEY, -- 16 bytes
  owner BLOB NOT NULL, -- sources.uuid of the process
  expires_us INTEGER NOT NULL -- of the device's uptime
) STRICT, WITHOUT ROWID;

CREATE TABLE dropped( -- facts given up before they were delivered
  source INTEGER NOT NULL, -- sources.id
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  reason TEXT NOT NULL, -- quota, age, erased, damaged, sampled, withheld
  PRIMARY KEY(source, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE arrivals( -- facts received, in the order of their coming: a cursor for exports that go on where they ended
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
  source INTEGER NOT NULL, -- sources.id
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  received_us INTEGER NOT NULL -- since 1970
) STRICT;

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE quarantine( -- own facts that the collector rejected; they are settled, and kept
  source INTEGER NOT NULL, -- sources.id
  sequence INTEGER NOT NULL,
  reason TEXT NOT NULL, -- the collector's words
  at_us INTEGER NOT NULL, -- since 1970
  PRIMARY KEY(source, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE erased( -- of which nothing is taken in any more, where facts of others come in
  guid BLOB PRIMARY KEY, -- 16 bytes: an installation's or a transaction's
  at_us INTEGER NOT NULL -- since 1970
) STRICT, WITHOUT ROWID;

CREATE TABLE settings(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE device_time( -- one row: what the age of own facts goes by, since nobody can turn it
  id INTEGER PRIMARY KEY CHECK(id = 1),
  seen_us INTEGER NOT NULL, -- how long the device was seen running since the store was made
  boot_us INTEGER NOT NULL, -- seen_us when the device was last started
  uptime_us INTEGER NOT NULL, -- of the device, when it was last looked at
  boot TEXT NOT NULL -- the system's ID of that boot
) STRICT;

CREATE TABLE totals( -- own sources that have ended, and of which nothing is left but these sums
  app TEXT PRIMARY KEY,
  sources INTEGER NOT NULL, -- how many they were
  recorded INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  quarantined INTEGER NOT NULL,
  quota INTEGER NOT NULL, -- dropped, by reason
  age INTEGER NOT NULL,
  erased INTEGER NOT NULL,
  damaged INTEGER NOT NULL,
  sampled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE retired( -- facts that were received, and whose rows were taken away again; they stand in `ranges` still
  source INTEGER NOT NULL, -- sources.id
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY(source, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE installations( -- of received sources
  guid BLOB PRIMARY KEY, -- 16 bytes
  proof_hash BLOB -- SHA-256 of the secret of who spoke for it first; NULL: there was none
) STRICT, WITHOUT ROWID;

CREATE TABLE erased_with_installation( -- transactions that an erased installation began: of others, only what began one is taken in
  guid BLOB PRIMARY KEY, -- 16 bytes
  at_us INTEGER NOT NULL -- since 1970
) STRICT, WITHOUT ROWID;

CREATE TABLE spans( -- that came by OTLP: each is known by its ID when it comes again, as long as its transaction is kept
  guid BLOB NOT NULL, -- the transaction's, 16 bytes: the ID of the span's trace
  source INTEGER NOT NULL, -- sources.id
  span BLOB NOT NULL, -- the span's ID, 8 bytes
  parent BLOB, -- its parent's, 8 bytes; NULL: none, or not known
  kind INTEGER NOT NULL, -- as OTLP numbers them; 0: it has not come itself, and others were below it
  part INTEGER, -- parts.sequence of its facts; NULL: it waits for the span that the part stands for
  fact INTEGER, -- the sequence of the first of its facts: of the part's opening where it stands for the part
  uncaused INTEGER NOT NULL DEFAULT 0, -- 1: the exchange that caused its part has not come, or there is none
  received_us INTEGER NOT NULL, -- since 1970
  waiting BLOB, -- while it waits: its facts as a set, numbered from 1
  original TEXT, -- the redacted span as an object of OTLP's JSON, without its IDs and with its scope; NULL: it has not arrived
  PRIMARY KEY(guid, source, span)
) STRICT, WITHOUT ROWID;

CREATE INDEX spans_by_part ON spans(source, part) WHERE part IS NOT NULL;

CREATE INDEX spans_waiting ON spans(received_us) WHERE waiting IS NOT NULL;

CREATE INDEX spans_uncaused ON spans(guid) WHERE uncaused = 1;

CREATE TRIGGER spans_go_with_their_part AFTER DELETE ON parts BEGIN
  DELETE FROM spans WHERE source = old.source AND part = old.sequence;
END;

CREATE VIEW transactions AS -- one row each; try: SELECT * FROM transactions ORDER BY begun_us DESC LIMIT 20;
SELECT id, support_code, use_case, use_case_name,
  CASE CASE WHEN outcome = 0 AND last_us + timeout_us < now_us THEN 6 ELSE outcome END WHEN 0 THEN 'open' WHEN 1 THEN 'succeeded' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled' WHEN 4 THEN 'abandoned' WHEN 5 THEN 'interrupted' WHEN 6 THEN 'timed_out' END AS outcome,
  (strftime('%Y-%m-%dT%H:%M:%S', begun_us / 1000000, 'unixepoch') || printf('.%06dZ', begun_us % 1000000)) AS begun, begun_us, duration_us,
  (strftime('%Y-%m-%dT%H:%M:%S', last_us / 1000000, 'unixepoch') || printf('.%06dZ', last_us % 1000000)) AS last_activity, last_us,
  error_domain, error_code, error_name, attributes, waiting_for_beginner, parent, source, app, app_version,
  ended_by, sample_ppm, sample_kept, sources, events, exchanges
FROM (
  SELECT (substr(lower(hex(p.guid)), 1, 8) || '-' || substr(lower(hex(p.guid)), 9, 4) || '-' || substr(lower(hex(p.guid)), 13, 4) || '-' || substr(lower(hex(p.guid)), 17, 4) || '-' || substr(lower(hex(p.guid)), 21, 12)) AS id, (substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (((instr('0123456789ABCDEF', substr(hex(p.guid), 23, 1)) - 1) << 1) | ((instr('0123456789ABCDEF', substr(hex(p.guid), 24, 1)) - 1) >> 3)) + 1, 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((((instr('0123456789ABCDEF', substr(hex(p.guid), 24, 1)) - 1) & 7) << 2) | ((instr('0123456789ABCDEF', substr(hex(p.guid), 25, 1)) - 1) >> 2)) + 1, 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((((instr('0123456789ABCDEF', substr(hex(p.guid), 25, 1)) - 1) & 3) << 3) | ((instr('0123456789ABCDEF', substr(hex(p.guid), 26, 1)) - 1) >> 1)) + 1, 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((((instr('0123456789ABCDEF', substr(hex(p.guid), 26, 1)) - 1) & 1) << 4) | (instr('0123456789ABCDEF', substr(hex(p.guid), 27, 1)) - 1)) + 1, 1) || '-' || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (((instr('0123456789ABCDEF', substr(hex(p.guid), 28, 1)) - 1) << 1) | ((instr('0123456789ABCDEF', substr(hex(p.guid), 29, 1)) - 1) >> 3)) + 1, 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((((instr('0123456789ABCDEF', substr(hex(p.guid), 29, 1)) - 1) & 7) << 2) | ((instr('0123456789ABCDEF', substr(hex(p.guid), 30, 1)) - 1) >> 2)) + 1, 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((((instr('0123456789ABCDEF', substr(hex(p.guid), 30, 1)) - 1) & 3) << 3) | ((instr('0123456789ABCDEF', substr(hex(p.guid), 31, 1)) - 1) >> 1)) + 1, 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((((instr('0123456789ABCDEF', substr(hex(p.guid), 31, 1)) - 1) & 1) << 4) | (instr('0123456789ABCDEF', substr(hex(p.guid), 32, 1)) - 1)) + 1, 1)) AS support_code, p.use_case,
    coalesce((SELECT min(n.name) FROM names n WHERE n.use_case = p.use_case AND n.event = -1 AND n.app = s.app AND n.app_version = s.app_version || char(1) || hex(s.uuid)), (SELECT min(n.name) FROM names n WHERE n.use_case = p.use_case AND n.event = -1 AND n.app = s.app AND n.app_version = s.app_version), (SELECT min(n.name) FROM names n WHERE n.use_case = p.use_case AND n.event = -1), 'use case ' || p.use_case) AS use_case_name,
    p.outcome, p.listed_us AS begun_us, p.duration_us, p.timeout_us,
    (SELECT max((a.last_at_us + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = a.source AND c.at_us <= a.last_at_us ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = a.source ORDER BY c.at_us LIMIT 1), 0))) FROM parts a WHERE a.guid = p.guid) AS last_us,
    CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AS now_us,
    json_extract(p.closed_detail, '$.error_domain') AS error_domain, p.error_code,
    json_extract(p.closed_detail, '$.error_name') AS error_name,
    CASE WHEN EXISTS(SELECT 1 FROM events e WHERE e.source = p.source AND e.part = p.sequence AND e.code = -2)
      THEN (SELECT json_group_object(name, json(value)) FROM (
        SELECT name, value, max(after) FROM (
          SELECT j.key AS name, CASE WHEN j.type IN ('true', 'false') THEN j.type ELSE json_quote(j.value) END AS value, 0 AS after
          FROM json_each(p.opened_detail, '$.attributes') j
          UNION ALL
          SELECT j.key, CASE WHEN j.type IN ('true', 'false') THEN j.type ELSE json_quote(j.value) END, e.after
          FROM events e, json_each(e.detail, '$.attributes') j
          WHERE e.source = p.source AND e.part = p.sequence AND e.code = -2
          UNION ALL
          SELECT j.value, NULL, e.after FROM events e, json_each(e.detail, '$.removed') j
          WHERE e.source = p.source AND e.part = p.sequence AND e.code = -2
        ) GROUP BY name) WHERE value IS NOT NULL)
      ELSE json_extract(p.opened_detail, '$.attributes') END AS attributes, p.joined AS waiting_for_beginner,
    CASE WHEN p.parent IS NOT NULL THEN (substr(lower(hex(p.parent)), 1, 8) || '-' || substr(lower(hex(p.parent)), 9, 4) || '-' || substr(lower(hex(p.parent)), 13, 4) || '-' || substr(lower(hex(p.parent)), 17, 4) || '-' || substr(lower(hex(p.parent)), 21, 12)) END AS parent,
    (substr(lower(hex(s.uuid)), 1, 8) || '-' || substr(lower(hex(s.uuid)), 9, 4) || '-' || substr(lower(hex(s.uuid)), 13, 4) || '-' || substr(lower(hex(s.uuid)), 17, 4) || '-' || substr(lower(hex(s.uuid)), 21, 12)) AS source, s.app, s.app_version,
    CASE p.outcome WHEN 5 THEN s.ended_by END AS ended_by,
    p.sample_ppm, p.sample_kept,
    (SELECT count(DISTINCT q.source) FROM parts q WHERE q.guid = p.guid) AS sources,
    (SELECT count(*) FROM parts q JOIN events e ON e.source = q.source AND e.part = q.sequence WHERE q.guid = p.guid AND e.code >= 0) AS events,
    (SELECT count(*) FROM parts q JOIN exchanges l ON l.source = q.source AND l.part = q.sequence WHERE q.guid = p.guid AND l.method IS NOT NULL) AS exchanges
  FROM parts p JOIN sources s ON s.id = p.source
  WHERE p.listed_us IS NOT NULL
);

CREATE VIEW timeline AS -- one row a fact; try: SELECT * FROM timeline WHERE transaction_id = '...' ORDER BY time_us, source, sequence;
SELECT (substr(lower(hex(f.guid)), 1, 8) || '-' || substr(lower(hex(f.guid)), 9, 4) || '-' || substr(lower(hex(f.guid)), 13, 4) || '-' || substr(lower(hex(f.guid)), 17, 4) || '-' || substr(lower(hex(f.guid)), 21, 12)) AS transaction_id, (strftime('%Y-%m-%dT%H:%M:%S', f.time_us / 1000000, 'unixepoch') || printf('.%06dZ', f.time_us % 1000000)) AS time, f.time_us,
  s.app, (substr(lower(hex(s.uuid)), 1, 8) || '-' || substr(lower(hex(s.uuid)), 9, 4) || '-' || substr(lower(hex(s.uuid)), 13, 4) || '-' || substr(lower(hex(s.uuid)), 17, 4) || '-' || substr(lower(hex(s.uuid)), 21, 12)) AS source, f.part, f.sequence, f.kind,
  CASE WHEN f.kind = 'event' THEN coalesce((SELECT min(n.name) FROM names n WHERE n.use_case = f.use_case AND n.event = f.code AND n.app = s.app AND n.app_version = s.app_version || char(1) || hex(s.uuid)), (SELECT min(n.name) FROM names n WHERE n.use_case = f.use_case AND n.event = f.code AND n.app = s.app AND n.app_version = s.app_version), (SELECT min(n.name) FROM names n WHERE n.use_case = f.use_case AND n.event = f.code), 'event ' || f.code) ELSE f.label END AS label,
  CASE WHEN f.kind = 'event' THEN f.code END AS code,
  json_extract(f.detail, '$.error_domain') AS error_domain, f.error_code,
  json_extract(f.detail, '$.error_name') AS error_name,
  json_extract(f.detail, '$.attributes') AS attributes, ifnull(f.sequence > f.closed, 0) AS late
FROM (
  SELECT p.guid, p.use_case, p.closed, p.source, p.sequence AS part, p.sequence, CASE p.joined WHEN 0 THEN 'begun' ELSE 'joined' END AS kind,
    CASE p.joined WHEN 0 THEN 'begun' ELSE 'joined' END AS label, NULL AS code, NULL AS error_code, p.opened_detail AS detail,
    (p.at_us + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = p.source AND c.at_us <= p.at_us ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = p.source ORDER BY c.at_us LIMIT 1), 0)) AS time_us
  FROM parts p WHERE p.guid IS NOT NULL
  UNION ALL
  SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, p.closed, 'finished',
    CASE p.outcome WHEN 1 THEN 'succeeded' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled' WHEN 4 THEN 'abandoned' END, NULL, p.error_code, p.closed_detail,
    (p.closed_at_us + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = p.source AND c.at_us <= p.closed_at_us ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = p.source ORDER BY c.at_us LIMIT 1), 0))
  FROM parts p WHERE p.guid IS NOT NULL AND p.closed IS NOT NULL
  UNION ALL
  SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, e.sequence, CASE e.code WHEN -2 THEN 'attributes_set' WHEN -3 THEN 'unknown' ELSE 'event' END,
    CASE e.code WHEN -2 THEN 'attributes set' WHEN -3 THEN json_extract(e.detail, '$.kind') END, e.code, json_extract(e.detail, '$.error_code'), e.detail, (e.at_us + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = e.source AND c.at_us <= e.at_us ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = e.source ORDER BY c.at_us LIMIT 1), 0))
  FROM parts p JOIN events e ON e.source = p.source AND e.part = p.sequence WHERE p.guid IS NOT NULL
  UNION ALL
  SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, l.sequence, 'exchange_begun',
    l.method || ' ' || l.path, NULL, NULL, NULL, (l.at_us + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = l.source AND c.at_us <= l.at_us ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = l.source ORDER BY c.at_us LIMIT 1), 0))
  FROM parts p JOIN exchanges l ON l.source = p.source AND l.part = p.sequence WHERE p.guid IS NOT NULL AND l.method IS NOT NULL
  UNION ALL
  SELECT p.guid, p.use_case, p.closed, p.source, p.sequence, l.closed, 'exchange_finished',
    ifnull(l.status, CASE l.state WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled' END), NULL, l.error_code, l.closed_detail, (l.closed_at_us + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = l.source AND c.at_us <= l.closed_at_us ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = l.source ORDER BY c.at_us LIMIT 1), 0))
  FROM parts p JOIN exchanges l ON l.source = p.source AND l.part = p.sequence WHERE p.guid IS NOT NULL AND l.closed IS NOT NULL
) f JOIN sources s ON s.id = f.source;

CREATE VIEW network AS -- HTTP exchanges; transaction_id is NULL outside any transaction
SELECT CASE WHEN p.guid IS NOT NULL THEN (substr(lower(hex(p.guid)), 1, 8) || '-' || substr(lower(hex(p.guid)), 9, 4) || '-' || substr(lower(hex(p.guid)), 13, 4) || '-' || substr(lower(hex(p.guid)), 17, 4) || '-' || substr(lower(hex(p.guid)), 21, 12)) END AS transaction_id, (strftime('%Y-%m-%dT%H:%M:%S', l.time_us / 1000000, 'unixepoch') || printf('.%06dZ', l.time_us % 1000000)) AS time, l.time_us,
  s.app, (substr(lower(hex(s.uuid)), 1, 8) || '-' || substr(lower(hex(s.uuid)), 9, 4) || '-' || substr(lower(hex(s.uuid)), 13, 4) || '-' || substr(lower(hex(s.uuid)), 17, 4) || '-' || substr(lower(hex(s.uuid)), 21, 12)) AS source, l.sequence,
  CASE l.role WHEN 0 THEN 'client' WHEN 1 THEN 'server' END AS role, l.method,
  ifnull(json_extract(l.opened_detail, '$.scheme') || '://', '') || ifnull(l.host, '') || ifnull(':' || json_extract(l.opened_detail, '$.port'), '')
    || l.path || ifnull('?' || json_extract(l.opened_detail, '$.query'), '') AS url,
  CASE WHEN l.state = 1 AND json_extract(l.closed_detail, '$.mocked') THEN 'mocked'
    ELSE ifnull(CASE l.state WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled' END, CASE s.ended WHEN 0 THEN 'in_progress' ELSE 'interrupted' END) END AS state, l.status,
  l.closed_at_us - l.at_us AS duration_us, l.first_byte_us - l.at_us AS first_byte_after_us, l.sent_bytes, l.received_bytes,
  json_extract(l.closed_detail, '$.error_domain') AS error_domain, l.error_code,
  json_extract(l.closed_detail, '$.error_name') AS error_name,
  json_extract(l.closed_detail, '$.http_version') AS http_version,
  json_extract(l.closed_detail, '$.sent_at_us') - l.at_us AS sent_after_us,
  json_extract(l.closed_detail, '$.received_wire_bytes') AS received_wire_bytes,
  json_array_length(l.closed_detail, '$.redirects') AS redirects, json_extract(l.closed_detail, '$.rule') AS rule,
  (SELECT sum(b.kept_bytes) FROM bodies b WHERE b.source = l.source AND b.exchange = l.sequence AND b.direction = 0) AS kept_of_request,
  (SELECT sum(b.kept_bytes) FROM bodies b WHERE b.source = l.source AND b.exchange = l.sequence AND b.direction = 1) AS kept_of_response
FROM (SELECT *, (n.at_us + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = n.source AND c.at_us <= n.at_us ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = n.source ORDER BY c.at_us LIMIT 1), 0)) AS time_us FROM exchanges n WHERE n.method IS NOT NULL) l
  JOIN sources s ON s.id = l.source
  LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part;

CREATE VIEW ledgers AS -- recorded = delivered + quarantined + dropped + pending
SELECT (substr(lower(hex(s.uuid)), 1, 8) || '-' || substr(lower(hex(s.uuid)), 9, 4) || '-' || substr(lower(hex(s.uuid)), 13, 4) || '-' || substr(lower(hex(s.uuid)), 17, 4) || '-' || substr(lower(hex(s.uuid)), 21, 12)) AS source, s.app, s.app_version, s.device, s.os, s.os_version,
  CASE WHEN s.heard_us IS NULL THEN 'recorded here' ELSE 'received' END AS origin, s.ended,
  (strftime('%Y-%m-%dT%H:%M:%S', (0 + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = s.id AND c.at_us <= 0 ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = s.id ORDER BY c.at_us LIMIT 1), 0)) / 1000000, 'unixepoch') || printf('.%06dZ', (0 + coalesce((SELECT c.offset_us FROM clocks c WHERE c.source = s.id AND c.at_us <= 0 ORDER BY c.at_us DESC LIMIT 1), (SELECT c.offset_us FROM clocks c WHERE c.source = s.id ORDER BY c.at_us LIMIT 1), 0)) % 1000000)) AS started,
  (strftime('%Y-%m-%dT%H:%M:%S', s.heard_us / 1000000, 'unixepoch') || printf('.%06dZ', s.heard_us % 1000000)) AS heard, s.recorded, s.delivered,
  (SELECT count(*) FROM quarantine q WHERE q.source = s.id) AS quarantined,
  (SELECT ifnull(sum(d.last - d.first + 1), 0) FROM dropped d WHERE d.source = s.id) AS dropped,
  s.recorded - (SELECT ifnull(sum(r.last - r.first + 1), 0) FROM ranges r WHERE r.source = s.id AND r.lease IS NULL)
    - (SELECT ifnull(sum(d.last - d.first + 1), 0) FROM dropped d WHERE d.source = s.id) AS pending,
  s.refused
FROM sources s;
