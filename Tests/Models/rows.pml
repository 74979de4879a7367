/*
 * Rows of transactions in ClickHouse: several processes write facts of one transaction and make its row, and any of them may end at any step.
 *
 * `CODE file: text` names what a step stands for; Scripts/check-models, which runs spin, fails when that file no longer has that text. It also runs each
 * MUTATION_..., a mistake that spin has to find.
 *
 * Modelled: inserts that arrive any time after their number was taken; merges, which keep the row with the largest version alone; questions between
 * any two steps.
 *
 * Not modelled: lagging replicas, which a quorum with sequential consistency excludes; facts that are taken away, which are changes as well; claims
 * that another process takes over after an hour, when their rows are not made any more.
 */

#define WRITERS 2
#define KEEPERS 2
#define PLACES  6        /* one for each writer, and the claims */

byte numbers;            /* the last place that was given */
byte noted, written, made;  /* rows of `changed`, a bit for each place */
byte facts;              /* those that count, a bit for each writer */
byte row, version;       /* the facts in the row with the largest version */

#define bit(place) (1 << (place - 1))

/* CODE SetQueue.swift: state: .begun, transactions: Array(changed) */
active [WRITERS] proctype Writer() {
    byte place;

    d_step { numbers++; place = numbers };
#ifndef MUTATION_NOTE_AFTER_WRITING
    noted = noted | bit(place);
    facts = facts | (1 << _pid);
#else
    facts = facts | (1 << _pid);
    noted = noted | bit(place);
#endif
    if
    :: true -> written = written | bit(place)
    :: true         /* it ends before */
    fi
}

/* CODE TransactionKeeper.swift: private func make( */
active [KEEPERS] proctype Keeper() {
    byte claim, before, newest, seen, pending, since;

end: do
    :: (written & ~made) != 0 && numbers < PLACES ->
        pending = written & ~made;
        d_step { numbers++; claim = numbers };
#ifndef MUTATION_NO_CLAIM
        noted = noted | bit(claim);
#endif
#ifdef MUTATION_CLAIM_FOR_ANYBODY
        written = written | bit(claim);
#endif
again:
        before = noted;
#ifndef MUTATION_VERSION_IS_THE_CLAIM
        newest = version;
#endif
        seen = facts;
        d_step {
            if
            :: newest + 1 > claim -> newest = newest + 1
            :: else -> newest = claim
            fi;
            if
            :: newest >= version -> version = newest; row = seen
            :: else
            fi
        };
#ifndef MUTATION_NO_SECOND_LOOK
        since = noted & ~before & ~bit(claim);
        if
        :: since != 0 -> goto again
        :: else
        fi;
#endif
        made = made | pending;
        made = made | bit(claim);
        pending = 0
    od
}

/* A question reads first what has changed, and then the rows. CODE ClickHouseStore+Reading.swift: try await tables.changedTransactions( */
active proctype Question() {
    byte known;
    bool isClean;

    do
    :: d_step { isClean = (noted & ~made) == 0; known = facts };
       if
       :: isClean -> assert((row & known) == known)
       :: else
       fi
    od
}
