/*
 * Heartbeats: how processes that share a store, and may stand still, tell who runs.
 *
 * `CODE file: text` names what a step stands for; Scripts/check-models, which runs spin, fails when that file no longer has that text. It also runs each
 * MUTATION_..., a mistake that spin has to find.
 *
 * Modelled: a process that stands still at any step, for so long that it is taken for ended, and goes on; others who look at any moment, and may stand
 * still themselves while they do; the lock of the store's writers.
 *
 * Not modelled: leases, which end by time (delivery.pml); what is journaled meanwhile (journal.pml).
 */

#ifndef SILENCES
#define SILENCES 2       /* how often it stands still for too long */
#endif
#define LOOKS    3       /* of others at who has ended */

bool isFresh = true;     /* the file says that it has beaten lately */
bool hasEnded;           /* the column `sources.ended` */
bool isLocked;           /* between processes, while one writes */
bool wasSilent;          /* known to the process itself: the last beat was too long ago when it beat again */
byte silences = SILENCES;

inline lock() { atomic { !isLocked -> isLocked = true } }
inline unlock() { isLocked = false }

/* Time passes. CODE SourceWriter+Journal.swift: static let silence */
active proctype Silence() {
end: do
    :: atomic { silences > 0 -> silences--; isFresh = false }
    od
}

/* Each piece of work begins with a beat. CODE StoreSession.swift: heartbeat?.beat( */
active proctype Process() {
end: do
    :: !isFresh || wasSilent ->
        d_step { if :: !isFresh -> wasSilent = true :: else fi; isFresh = true };
        /* CODE Store+Recording.swift: func revive( */
        if
        :: wasSilent ->
#ifndef MUTATION_LOOK_BEFORE_LOCKING
            lock();
            hasEnded = false;
            unlock();
#else
            if :: hasEnded -> lock(); hasEnded = false; unlock() :: else fi;
#endif
            wasSilent = false
        :: else
        fi
    od
}

/* CODE Store+Recording.swift: package func endSources( */
active proctype Other() {
    byte looks = LOOKS;
    bool seen;

end: do
    :: looks > 0 ->
        looks--;
#ifndef MUTATION_JUDGE_BEFORE_LOCKING
        lock();
        seen = isFresh;
#else
        seen = isFresh;
        lock();
#endif
        if :: !seen -> hasEnded = true :: else fi;
        unlock()
    od
}

/* Who goes on is seen to run: of every run, fair or not. */
ltl whoGoesOnIsNotTakenForEnded { <> [] (!hasEnded) }
