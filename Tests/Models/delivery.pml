/*
 * Leases and verdicts: how facts get from a store that two processes share to the collector, once each.
 *
 * A step here is one SQLite transaction there. `CODE file: text` names what a step stands for; Scripts/check-models, which runs spin, fails when that
 * file no longer has that text. It also runs each MUTATION_..., a mistake in the protocol that spin has to find.
 *
 * Modelled: facts of two processes, one of them perhaps bad; a process killed at any instant, and its successor; requests that are lost, come late or
 * twice; answers lost after the commit; flushes that give up too early; leases that expire while the answer is under way; bookings that fail; an erasure
 * and a quota at any moment.
 *
 * Not modelled: the journal (journal.pml; here a fact is recorded when it is in the store), power loss (the collector's commits are synced before it
 * answers, and a commit of the client that is undone makes it send again), more than one collector.
 */

#ifndef TROUBLES
#define TROUBLES 2       /* of the network, the clock and the disk, of any kind, at any time */
#endif
#define LAUNCHES 3       /* two processes at once, and the successor of one that was killed */
#define SETS     5       /* IDs in use at once; an index beyond is an error that spin reports */
#define NONE     7

#define FIRST    1       /* facts are bits of masks */
#define SECOND   2
#define count(mask)      (((mask) & 1) + ((mask) >> 1))

/* The client's store. */
byte recorded, delivered, quarantined, dropped, erased;
byte deliveredCounter;           /* the column `sources.delivered`, booked apart from the ranges */
byte sampled;                    /* dropped by sampling: reported along with others while its source runs */
byte news;                       /* the column `sources.news`: 1 something to tell, 2 told in a set that is under way */
byte lease = NONE, leaseOwner = NONE, claimed;

#define settled  (delivered | quarantined | dropped)
#define pending  (recorded & ~settled)

/* The processes, and the set whose answer each waits for. */
bool isAlive[LAUNCHES];
byte waiting[LAUNCHES];

/* What is under way. */
typedef Set {
    byte facts, told, toldErased;                       /* told: all that is dropped */
    bool isHeld, isRequested, isAnswered, isLost;       /* held: a process waits for the answer */
    byte rejected
}
Set sets[SETS];

/* The collector. */
byte bad;                                               /* facts that it cannot store */
byte received, gaps, refused;                           /* refused: gaps that were erased */
byte rows[2];                                           /* how often each fact is counted */
byte everRejected, everReceived;

byte troubles = TROUBLES;

inline check() {
    assert((settled & ~recorded) == 0);
    /* Nothing is settled but what the collector has synced, or rejected, or this side booked as dropped. */
    assert((delivered & ~everReceived) == 0);
    assert((quarantined & ~everRejected) == 0);
    /* Nothing is settled twice: the ledger balances. */
    assert((delivered & quarantined) == 0 && (delivered & dropped) == 0 && (quarantined & dropped) == 0);
    assert(deliveredCounter == count(delivered));
    /* Nothing is counted twice at the collector, and its ranges say what it has. */
    assert(rows[0] == (received & FIRST) && rows[1] == (received >> 1));
    assert((received & gaps) == 0)
}

/* CODE SourceRows.swift: func endSource( */
inline endLease(which) {
#ifndef MUTATION_RELEASE_FORGETS_NEWS
    if :: news == 2 -> news = 1 :: else fi;
#else
    if :: news == 2 -> news = 0 :: else fi;
#endif
    if :: lease == which -> lease = NONE; leaseOwner = NONE; claimed = 0 :: else fi
}

/* CODE Store+Delivery.swift: func endStaleLeases( */
#ifndef MUTATION_KEEP_LEASES_OF_THE_DEAD
#define mayLease(me)  (lease == NONE || leaseOwner == me || !isAlive[leaseOwner])
#else
#define mayLease(me)  (lease == NONE || leaseOwner == me)
#endif

/* An ID is never used again; a number is, once no trace of it is left. */
#define isUsed(s)     (sets[s].isHeld || sets[s].isRequested || lease == s)

/* CODE Store+Delivery.swift: package func lease( */
/* CODE Claim.swift: mutating func shares( */
inline takeLease(me) {
    if :: lease != NONE -> endLease(lease) :: else fi;
    set = 0;
    do :: isUsed(set) -> set++ :: else -> break od;
    lease = set; leaseOwner = me;
    claimed = pending;
    sets[set].facts = claimed; sets[set].told = dropped; sets[set].toldErased = erased;
    sets[set].isHeld = true; waiting[me] = set;
    if :: news != 0 -> news = 2 :: else fi;
    check()
}

/* CODE Store+Delivery.swift: package func settle( */
inline settle(set) {
    if
#ifndef MUTATION_BOOK_WITHOUT_LEASE
    :: lease == set ->
#else
    :: true -> claimed = sets[set].facts;
#endif
        quarantined = quarantined | (claimed & sets[set].rejected);
        delivered = delivered | (claimed & ~sets[set].rejected);
        deliveredCounter = deliveredCounter + count(claimed & ~sets[set].rejected);
        lease = NONE; leaseOwner = NONE; claimed = 0;
#ifndef MUTATION_VERDICT_CLEARS_LATER_NEWS
        if :: news == 2 -> news = 0 :: else fi
#else
        news = 0
#endif
    :: else
    fi;
    check()
}

/* What was known of a set goes; a number that is used again is as new. */
inline clear(set) {
    if :: !sets[set].isHeld && !sets[set].isRequested -> sets[set].facts = 0; sets[set].told = 0; sets[set].toldErased = 0 :: else fi
}

/* A process no longer waits for an answer. */
inline letGo(me) {
    sets[waiting[me]].isHeld = false; sets[waiting[me]].isAnswered = false; sets[waiting[me]].isLost = false;
    sets[waiting[me]].rejected = 0;
    clear(waiting[me]);
    waiting[me] = NONE
}

/* A process that flushes whenever there is something to tell. */
/* CODE Flush.swift: mutating func run( */
proctype Launch(byte me) {
    byte set;

    {
end:    do
        :: atomic {
                waiting[me] == NONE && (pending != 0 || news != 0) && (mayLease(me) || troubles > 0) ->
                /* The lease of another that lives has expired: it is slow. */
                d_step { if :: mayLease(me) :: else -> troubles-- fi; takeLease(me) };
                if
                :: sets[set].isRequested = true
                :: troubles > 0 -> troubles--; sets[set].isLost = true
                fi;
                set = 0
            }
        :: d_step { waiting[me] != NONE && sets[waiting[me]].isAnswered -> settle(waiting[me]); letGo(me) }
        /* The booking fails: the lease stays. */
        :: d_step { waiting[me] != NONE && sets[waiting[me]].isAnswered && troubles > 0 -> troubles--; letGo(me) }
        /* Nothing comes; or something is under way, and the flush gives up too early. CODE Flush.swift: try store.release( */
        :: d_step {
                waiting[me] != NONE && (sets[waiting[me]].isLost || troubles > 0) ->
                if :: sets[waiting[me]].isLost :: else -> troubles-- fi;
#ifndef MUTATION_TRUST_ANY_ANSWER
                endLease(waiting[me]); check();
#else
                settle(waiting[me]);
#endif
                letGo(me)
            }
        od
    } unless { !isAlive[me] }
}

/* SIGKILL at any instant, and a successor. The kernel takes the lock away. CODE JournalFile.swift: static func isLocked(for */
inline kill(victim) {
    d_step {
        isAlive[victim] = false;
        if :: waiting[victim] != NONE -> letGo(victim) :: else fi;
        isAlive[2] = true;
        /* Its source has ended, which is news. CODE Store+Recording.swift: package func endSources( */
        news = 1
    };
    run Launch(2)
}

/* CODE Store+Recording.swift: package func append( */
inline record(launch, fact) { d_step { if :: isAlive[launch] -> recorded = recorded | fact :: else fi; check() } }

active proctype Recording() { record(0, FIRST); record(1, SECOND) }

/* CODE ScopeEraser.swift: package func erase( */
/* CODE FactEraser.swift: private func book( */
inline erase(fact) {
#ifndef MUTATION_ERASE_KEEPS_THE_LEASE
    if :: claimed & fact -> endLease(lease) :: else fi;
#endif
    dropped = dropped | fact; erased = erased | fact; news = 1;
    check()
}

active proctype Erasing() {
end: if
    :: d_step { pending & FIRST -> erase(FIRST) }
    :: d_step { pending & SECOND -> erase(SECOND) }
    fi
}

/* What is leased is exempt. CODE Retention.swift: mutating func step( */
#ifndef MUTATION_QUOTA_TAKES_WHAT_IS_LEASED
#define mayGo (pending & ~claimed)
#else
#define mayGo pending
#endif

active proctype Quota() {
end: d_step { mayGo & FIRST -> dropped = dropped | FIRST; news = 1; check() }
}

/*
 * A journal brings a fact that is sampled away in the same step: of a process that runs, or by recovery, perhaps after the end of its source was told.
 */
/* CODE LeadingParts.swift: func decideHeldParts( */
/* CODE SourceRows.swift: func note(_ source: Int64, sampledFrom */
active proctype Sampling() {
end: d_step {
        !(recorded & SECOND) ->
        recorded = recorded | SECOND; dropped = dropped | SECOND; sampled = sampled | SECOND;
#ifndef MUTATION_SAMPLED_AFTER_THE_END_IS_NO_NEWS
        if :: news == 2 || !isAlive[1] -> news = 1 :: else fi;
#else
        if :: news == 2 -> news = 1 :: else fi;
#endif
        check()
    }
}

/* CODE Store+Ingest.swift: package func ingest( */
/* CODE Ingestion.swift: private mutating func store( */
inline ingest(s) {
    /* Told as erased: what has arrived goes, and what comes later is refused. CODE Ingestion.swift: private func erase(_ told */
    received = received & ~sets[s].toldErased;
    if :: sets[s].toldErased & FIRST -> rows[0] = 0 :: else fi;
    if :: sets[s].toldErased & SECOND -> rows[1] = 0 :: else fi;
#ifndef MUTATION_FORGET_ERASURES
    refused = refused | sets[s].toldErased;
#endif
    rejected = sets[s].facts & (refused | (bad & ~received));
#ifndef MUTATION_FORGET_RANGES
    fresh = sets[s].facts & ~rejected & ~received;
#else
    fresh = sets[s].facts & ~rejected;
#endif
    rows[0] = rows[0] + (fresh & FIRST); rows[1] = rows[1] + (fresh >> 1);
    received = received | fresh;
#ifdef MUTATION_REJECTED_COUNT_AS_RECEIVED
    received = received | rejected;
#endif
    everReceived = everReceived | fresh; everRejected = everRejected | rejected;
    /* A fact that is there is not dropped. CODE RangeRows.swift: func bookDropped( */
    gaps = (gaps | sets[s].told) & ~received;
    check()
}

/* A request arrives: its set is committed, synced, and answered. CODE SetWriter.swift: store.opened().ingest(group */
inline serve(s) {
    atomic {
        sets[s].isRequested ->
        if
        :: sets[s].isRequested = false
        :: troubles > 0 -> troubles--                                           /* it will come once more */
        fi;
#ifdef MUTATION_ANSWER_BEFORE_COMMIT
        if :: d_step { ingest(s) } :: troubles > 0 -> troubles-- fi;            /* the collector is killed in between */
#else
        d_step { ingest(s) };
#endif
        if
        :: !sets[s].isHeld || sets[s].isAnswered                                /* nobody waits any more */
        :: sets[s].isHeld && !sets[s].isAnswered -> sets[s].isAnswered = true; sets[s].rejected = rejected
        :: sets[s].isHeld && !sets[s].isAnswered && troubles > 0 -> troubles--; sets[s].isLost = true
        fi;
        clear(s); rejected = 0; fresh = 0
    }
}

active proctype Collector() {
    byte rejected, fresh;

end: do
    :: serve(0) :: serve(1) :: serve(2) :: serve(3) :: serve(4)
    od
}

init {
    atomic {
        if :: bad = 0 :: bad = SECOND fi;
        waiting[0] = NONE; waiting[1] = NONE; waiting[2] = NONE;
        isAlive[0] = true; isAlive[1] = true;
        run Launch(0); run Launch(1)
    };
end: if
    :: atomic { isAlive[0] -> kill(0) }
    :: atomic { isAlive[1] -> kill(1) }
    fi
}

/*
 * No loss: in the end every recorded fact is settled, the collector has heard of everything, and both sides say the same. What could go on for ever,
 * trouble and killing, is bounded, so that this has to hold of every run, fair or not.
 */
ltl everythingIsSettledInTheEnd {
    <> [] (pending == 0 && news == 0 && (received & erased) == 0 && ((received | gaps) == (delivered | dropped)
        || (isAlive[1] && (received | gaps | sampled) == (delivered | dropped))))
}
