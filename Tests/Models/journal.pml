/*
 * The journal: how facts get from several threads into the store, and what is left of them when the process is killed or the power fails.
 *
 * `CODE file: text` names what a step stands for; Scripts/check-models, which runs spin, fails when that file no longer has that text. It also runs each
 * MUTATION_..., a mistake that spin has to find.
 *
 * Modelled: two threads that record; a ring of two segments, each used again, of which the last word may be left over; the drain, with a commit that may
 * fail; the sync, the freeing and the scrubbing; what recovery finds after SIGKILL or a power cut at any step.
 *
 * Not modelled: memory order (spin knows one order for all; the code publishes with release and reads with acquire), what a record says and its checksum
 * (a record that is not whole is one that is not published), the room kept for closings. After a power cut the journal's pages count as written: the
 * five-second bound for when they were not is a matter of tests.
 */

#define SIZE       3                                    /* words in a segment: its base, and two records of a word each */
#define SEGMENTS   2
#define FIRST      2                                    /* sequences: that of the journal's first record, as something was recorded into memory before */
#define LAST       5
#define FILLER     255
#define index(position)   ((position) % (SIZE * SEGMENTS))
#define begin(position)   (index(position) / SIZE * SIZE)

/* The file. A record is its sequence; 0 is none, or one that is not published. */
byte words[SIZE * SEGMENTS];

/* The memory of the process. `head` and `headCount` are one word there: the position of the next record, and how many facts its segment has. */
byte head = 1, headCount;
byte limit = SIZE * SEGMENTS;
bool isTurning;
byte taken = 1, takenSequence = FIRST - 1, stored = 1, storedSequence = FIRST - 1, freedTurn;

/* The store, which gets facts in order: how far it is committed, and how far that is synced. */
byte committed = FIRST - 1, synced = FIRST - 1;
byte failures = 1;                                      /* commits that fail */

byte begun = FIRST - 1;                                 /* reservations so far, as a sequence */
bool journaled[LAST + 1];                            /* of which sequences `log` has returned `.journaled` */

#define turnOf(position)  (((position) - 1) / SIZE)
#ifndef MUTATION_TURN_INTO_WHAT_IS_NOT_FREE
#define isFree(start)     ((start) + SIZE <= limit)
#else
#define isFree(start)     true
#endif

/* Goes on to the next segment, where it is free. CODE Journal.swift: private func turn(from */
inline turn() {
#ifndef MUTATION_TURN_WITHOUT_LOCK
    atomic { !isTurning -> isTurning = true };
#endif
    do
    :: d_step { old = head; count = headCount; next = (turnOf(old) + 1) * SIZE };
        if
        :: turnOf(old) != turnOf(from) -> break                                 /* somebody else was here */
#ifndef MUTATION_TURN_INTO_WHAT_IS_NOT_FREE
        :: turnOf(old) == turnOf(from) && next + SIZE > limit -> break
        :: turnOf(old) == turnOf(from) && next + SIZE <= limit
#else
        :: turnOf(old) == turnOf(from)
#endif
        fi;
        sequence = words[begin(old - 1)] + count;
#ifndef MUTATION_TURN_BEFORE_THE_BASE_IS_SET
        words[index(next)] = sequence;
#endif
        if
        :: atomic { head == old && headCount == count -> head = next + 1; headCount = 0 };
#ifdef MUTATION_TURN_BEFORE_THE_BASE_IS_SET
            words[index(next)] = sequence;
#endif
            if :: old < next -> words[index(old)] = FILLER :: else fi;
            break
        :: atomic { head != old || headCount != count -> skip }
        fi
    od;
    skip;
    d_step { isTurning = false; old = 0; count = 0; next = 0; sequence = 0; from = 0 }
}

/* A thread that records. CODE Journal.swift: func append(_ content: Fact.Content */
proctype Recording() {
    byte position, sequence, old, count, next, from;

end: do
    :: begun == LAST -> break
    /* CODE Journal.swift: head.weakCompareExchange( */
    :: atomic { begun < LAST && head % SIZE != 0 -> position = head; sequence = headCount + 1; head++; headCount++; begun++ };
        sequence = sequence + words[begin(position)];
#ifdef MUTATION_ANSWER_BEFORE_PUBLISHING
        journaled[sequence] = true;
#endif
        /* Copied, and published by the first word. CODE Journal.swift: waybill_store_release(record, JournalHeading( */
        assert(words[index(position)] == 0);
        words[index(position)] = sequence;
        d_step { journaled[sequence] = true; position = 0; sequence = 0 }
    /* No room in this segment, or not enough. Where the next is not free, `log` refuses; here it waits. */
    :: atomic { begun < LAST && head % SIZE != 1 && isFree((turnOf(head) + 1) * SIZE) -> from = head };
        turn()
    od
}

#ifndef MUTATION_READ_OVER_WHAT_IS_NOT_PUBLISHED
#define isReadable(word) ((word) != 0)
#else
#define isReadable(word) true
#endif

/* A segment is free when everything up to its last word is stored, and the next has taken over the count. */
#ifndef MUTATION_FREE_BEFORE_THE_NEXT_HAS_ITS_BASE
#define storedTurn turnOf(stored)
#else
#define storedTurn (stored / SIZE)
#endif

/* CODE SourceWriter+Journal.swift: func syncWhenDue( */
inline sync() {
#ifndef MUTATION_FREE_BEFORE_SYNC
    synced = committed;
#endif
    /* CODE Journal.swift: func confirmSync() */
    do
    :: freedTurn < storedTurn ->
        d_step {
            word = index(freedTurn * SIZE);
            words[word] = 0; words[word + 1] = 0; words[word + 2] = 0; word = 0;
            freedTurn++
        };
        limit = limit + SIZE
    :: freedTurn >= storedTurn -> break
    od;
    skip;
    /* The segment in use is scrubbed. CODE Journal.swift: func scrub( */
    d_step {
        word = freedTurn * SIZE + 1;
        do :: word < stored && word % SIZE != 0 -> words[index(word)] = 0; word++ :: else -> break od;
        word = 0
    };
    synced = committed
}

/* The store's thread. */
proctype Draining() {
    byte word;

end: do
    /* CODE Journal.swift: func take(limit */
    :: atomic { taken < head && taken % SIZE == 0 -> taken++ }
    :: atomic {
            taken < head && taken % SIZE != 0 && isReadable(words[index(taken)]) ->
            if
            :: words[index(taken)] == FILLER || words[index(taken)] == 0
            /* In order, nothing left out, nothing twice. */
            :: words[index(taken)] != FILLER && words[index(taken)] != 0 ->
                assert(words[index(taken)] > takenSequence);
#ifndef MUTATION_READ_OVER_WHAT_IS_NOT_PUBLISHED
                assert(words[index(taken)] == takenSequence + 1);
#endif
                takenSequence = words[index(taken)]
            fi;
            taken++
        }
    /* One SQLite transaction; then the journal is told. CODE SourceWriter.swift: recorder.confirmBatch() */
    :: atomic { taken > stored };
#ifdef MUTATION_CONFIRM_BEFORE_COMMIT
        stored = taken; storedSequence = takenSequence;
#endif
        if
        :: committed = takenSequence;
            d_step { stored = taken; storedSequence = takenSequence }
        /* CODE Journal.swift: func giveBack() */
        :: d_step { failures > 0 -> failures--; taken = stored; takenSequence = storedSequence }
        fi
    :: committed > synced || freedTurn < storedTurn -> sync()
    od
}

/*
 * What recovery would find, if the process were killed now, or the power failed: what is in the file is added to what the store has. It looks once, at any
 * step of any run, so that it looks everywhere. CODE Store+Recovery.swift: func recoverJournals( */
proctype Recovery() {
    byte sequence, word;

    d_step {
        sequence = FIRST;
        do
        :: sequence <= LAST ->
            word = 0;
            do
            :: word < SIZE * SEGMENTS && (word % SIZE == 0 || words[word] != sequence) -> word++
            :: else -> break
            od;
            /* What was answered with `.journaled` is in the file or, after a power cut too, in the store. */
            assert(!journaled[sequence] || sequence <= synced || word < SIZE * SEGMENTS);
            sequence++
        :: else -> break
        od
    }
}

init {
    atomic {
        words[0] = FIRST - 1;
        run Recording(); run Recording(); run Draining(); run Recovery()
    }
}

/* While nobody ends it, everything gets into the store. */
ltl everythingIsStoredInTheEnd {
    <> [] (begun == LAST && committed == LAST)
}
