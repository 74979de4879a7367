import WaybillCore

/// A fact's row is the fact. Derived rows can be rebuilt from facts.
///
/// Integers that end in `_us` are microseconds, since the source started or, where noted, since 1970.
package enum Tables {
    package static let bySource = [
        "clocks", "parts", "events", "exchanges", "ranges", "dropped", "arrivals", "quarantine", "retired", "spans",
    ]

    /// The value of `events.code` in a row that sets attributes: its detail has `attributes`, and the names that were
    /// removed as a list, `removed`. No event has a negative code.
    package static let codeOfAttributesSet = -2

    /// The value of `events.code` in a row of a kind that this version doesn't know: its detail has `kind` and
    /// `members`.
    package static let codeOfUnknown = -3

    static let script = """
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
        CREATE INDEX names_of_launches ON names(app_version) WHERE instr(app_version, char(1)); -- after it: the source's uuid, in hexadecimal
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
          timeout_us INTEGER AS (ifnull(own_timeout_us, \(Fact.Opened.usualTimeoutMicroseconds))),
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

        """

    /// The tables for sets of version 0.0.1, which only a store that receives such sets has.
    static let legacy = """
        CREATE TABLE legacy_quarantine( -- transactions of such sets that could not be read; their senders keep nothing of them
          id INTEGER PRIMARY KEY, -- the older ones have the smaller numbers
          received_us INTEGER NOT NULL, -- since 1970
          guid BLOB, -- the transaction's 16 bytes; NULL where not even they could be read
          reason TEXT NOT NULL, -- where in the set what is wrong
          json TEXT NOT NULL -- as it came, redacted, and cut where it is very long
        ) STRICT;
        CREATE TABLE legacy_sets( -- those that came within a day: they have no IDs, so their bytes stand for them
          digest BLOB PRIMARY KEY, -- SHA-256
          received_us INTEGER NOT NULL -- since 1970
        ) STRICT, WITHOUT ROWID;

        """
}
