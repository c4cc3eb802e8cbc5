-------------------------------- MODULE sync --------------------------------
(*
The sync reads the provider's transactions: planners cut what was updated into slices, workers read slices page by page,
and slices of what was not final yet, the tail, are registered to be read again.

What it abstracts: a round has one slice, and a page holds one row. A planner stores the slice before anything is read,
or reads its first page in place and stores the rest, if there is one. The provider lists rows by their number, whatever
time they were updated at, and shows an update up to Lag late. A planner's clock is off by up to Skew, and
Lag + Skew <= Overlap is what the gateway relies on. A lease ends whenever it likes, and any process dies before any
step. What becomes of a row is one step: it is in the books, a finding, or noted to be looked at by itself. Of the due
time, which tells one claim from the next, a worker knows whether it is still as the worker read or wrote it.
*)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Planners, Workers, Rows, MostTime, MostRounds, MostReadings, Lag, Skew, Overlap,
  RoundIsNext,        \* moveHead in shared/sync/head-store.ts, or HeadOnlyAdvances breaks
  SlicesComeWithHead, \* moveHead in shared/sync/head-store.ts, or NothingIsSkipped breaks
  RoundsOverlap,      \* nextRound in shared/sync/head-store.ts, or NothingIsSkipped breaks
  ClaimIsOnOldTime,   \* claimJob in shared/sync/job-store.ts, or LeaseIsKept breaks
  KeptBehindPage,     \* readPage in shared/sync/read-slice.ts, or NothingIsSkipped breaks
  KeptOnOldTime,      \* keepPosition in shared/sync/job-store.ts, or PositionIsKept breaks
  DoneOnOldTime,      \* finishJob in shared/sync/job-store.ts, or TailIsReadAgain breaks
  ReadingBeginsAnew,  \* registerReading in shared/sync/job-store.ts, or TailIsReadAgain breaks
  ReadingTakesOver    \* registerReading in shared/sync/job-store.ts, or TailIsReadAgain breaks

VARIABLES
  now,
  updated,  \* when each row was last updated; 0: no row yet
  visible,  \* whether the provider shows that update
  booked,   \* which update of each row was read
  head,     \* the time up to which slices exist
  slices,   \* by round; 0 is the tail's
  planner, worker,
  readings, \* how often the tail was registered
  owed      \* rows that were not final at the registration: to be read again after it

vars == <<now, updated, visible, booked, head, slices, planner, worker, readings, owed>>

Symmetry == Permutations(Planners) \union Permutations(Workers)
Max(a, b) == IF a > b THEN a ELSE b
Min(set) == CHOOSE x \in set : \A y \in set : x <= y
Tail == 0
NoSlice == [isLive |-> FALSE, from |-> 0, to |-> 0, after |-> 0, isDue |-> FALSE]
IdlePlanner ==
  [pc |-> "idle", round |-> 0, position |-> 0, clock |-> 0, row |-> 0, update |-> 0, isAll |-> FALSE, slice |-> NoSlice]
IdleWorker == [pc |-> "idle", slice |-> 0, isMine |-> FALSE, after |-> 0, row |-> 0, update |-> 0, reading |-> 0]

Init ==
  /\ now = 1
  /\ updated = [r \in Rows |-> 0]
  /\ visible = [r \in Rows |-> FALSE]
  /\ booked = [r \in Rows |-> 0]
  /\ head = [position |-> 1, round |-> 0]
  /\ slices = [s \in 0..MostRounds |-> NoSlice]
  /\ planner = [p \in Planners |-> IdlePlanner]
  /\ worker = [w \in Workers |-> IdleWorker]
  /\ readings = 0 /\ owed = {}

-----------------------------------------------------------------------------
(* The provider *)

Tick ==
  /\ now < MostTime
  /\ \A r \in Rows : updated[r] > 0 /\ ~visible[r] => now < updated[r] + Lag
  /\ now' = now + 1
  /\ UNCHANGED <<updated, visible, booked, head, slices, planner, worker, readings, owed>>

Update(r) ==
  /\ updated[r] < now
  /\ updated' = [updated EXCEPT ![r] = now]
  /\ \E isShown \in BOOLEAN : visible' = [visible EXCEPT ![r] = isShown]
  /\ UNCHANGED <<now, booked, head, slices, planner, worker, readings, owed>>

Show(r) ==
  /\ updated[r] > 0 /\ ~visible[r]
  /\ visible' = [visible EXCEPT ![r] = TRUE]
  /\ UNCHANGED <<now, updated, booked, head, slices, planner, worker, readings, owed>>

-----------------------------------------------------------------------------
(* A planner: nextRound, readSlice with the position in the head, moveHead *)

Ready(p, to) == planner' = [planner EXCEPT ![p] = to]
Clocks == Max(now, Skew + 1) - Skew .. now + Skew

ReadHead(p) ==
  /\ planner[p].pc = "idle" /\ head.round < MostRounds
  /\ Ready(p, [IdlePlanner EXCEPT !.pc = "plan", !.round = head.round, !.position = head.position])
  /\ UNCHANGED <<now, updated, visible, booked, head, slices, worker, readings, owed>>

ListFirst(p) ==
  /\ planner[p].pc = "plan"
  /\ \E clock \in Clocks :
       LET read == [planner[p] EXCEPT !.pc = "move", !.clock = clock]
           to == Max(read.position, clock)
           rows == {r \in Rows : visible[r] /\ updated[r] >= read.position /\ updated[r] <= to}
           next == Min(rows)
       IN IF rows = {}
          THEN Ready(p, [read EXCEPT !.isAll = TRUE])
          ELSE Ready(p, [read EXCEPT !.pc = IF KeptBehindPage THEN "book" ELSE "move",
                           !.row = next, !.update = updated[next], !.isAll = rows = {next}])
  /\ UNCHANGED <<now, updated, visible, booked, head, slices, worker, readings, owed>>

BookFirst(p) ==
  /\ planner[p].pc = "book"
  /\ booked' = [booked EXCEPT ![planner[p].row] = Max(@, planner[p].update)]
  /\ Ready(p, IF KeptBehindPage THEN [planner[p] EXCEPT !.pc = "move", !.update = 0] ELSE IdlePlanner)
  /\ UNCHANGED <<now, updated, visible, head, slices, worker, readings, owed>>

\* Without a page, or after the first one.
MoveHead(p) ==
  /\ planner[p].pc \in {"plan", "move"}
  /\ \E clock \in IF planner[p].pc = "move" THEN {planner[p].clock} ELSE Clocks :
       LET read == planner[p]
           to == Max(read.position, clock)
           slice == [isLive |-> TRUE, from |-> read.position, to |-> to, after |-> read.row, isDue |-> TRUE]
           overlapped == IF RoundsOverlap THEN IF clock > Overlap THEN clock - Overlap ELSE 0 ELSE to
           moved == IF read.update > 0 THEN [IdlePlanner EXCEPT !.pc = "book", !.row = read.row, !.update = read.update]
                    ELSE IdlePlanner
       IN IF RoundIsNext => head.round = read.round
          THEN /\ head' = [position |-> Max(read.position, overlapped), round |-> read.round + 1]
               /\ CASE read.isAll -> Ready(p, moved) /\ UNCHANGED slices
                    [] ~read.isAll /\ SlicesComeWithHead ->
                         slices' = [slices EXCEPT ![read.round + 1] = slice] /\ Ready(p, moved)
                    [] OTHER -> Ready(p, [read EXCEPT !.pc = "slice", !.slice = slice]) /\ UNCHANGED slices
          ELSE Ready(p, IdlePlanner) /\ UNCHANGED <<head, slices>>
  /\ UNCHANGED <<now, updated, visible, booked, worker, readings, owed>>

WriteSlice(p) ==
  /\ planner[p].pc = "slice"
  /\ slices' = [slices EXCEPT ![planner[p].round + 1] = planner[p].slice]
  /\ planner' = [planner EXCEPT ![p] = IdlePlanner]
  /\ UNCHANGED <<now, updated, visible, booked, head, worker, readings, owed>>

PlannerDies(p) ==
  /\ planner[p].pc # "idle"
  /\ planner' = [planner EXCEPT ![p] = IdlePlanner]
  /\ UNCHANGED <<now, updated, visible, booked, head, slices, worker, readings, owed>>

-----------------------------------------------------------------------------
(* Writes to a slice move its due time: writes of other workers that have read it are refused from then on. *)
Moved(s, w, to) ==
  worker' = [v \in Workers |-> IF v = w THEN to
                               ELSE IF worker[v].slice = s /\ worker[v].pc # "idle" THEN [worker[v] EXCEPT !.isMine = FALSE]
                               ELSE worker[v]]
(* The tail: registerOpenHours, by the worker that reads a page with rows that are not final *)

Register ==
  /\ readings < MostReadings
  /\ readings' = readings + 1
  /\ owed' = {r \in Rows : updated[r] > 0 /\ visible[r]}
  /\ slices' = [slices EXCEPT ![Tail] =
       [isLive |-> TRUE, from |-> 0, to |-> MostTime, isDue |-> TRUE,
        after |-> IF ReadingBeginsAnew THEN 0 ELSE slices[Tail].after]]
  /\ IF ReadingTakesOver THEN Moved(Tail, "none", IdleWorker) ELSE UNCHANGED worker
  /\ UNCHANGED <<now, updated, visible, booked, head, planner>>

-----------------------------------------------------------------------------
(* A worker: claimJob, readSlice *)

Move(w, to) == worker' = [worker EXCEPT ![w] = to]

Find(w) ==
  /\ worker[w].pc = "idle"
  /\ \E s \in 0..MostRounds :
       /\ slices[s].isLive /\ slices[s].isDue
       /\ Move(w, [IdleWorker EXCEPT !.pc = "claim", !.slice = s, !.isMine = TRUE])
  /\ UNCHANGED <<now, updated, visible, booked, head, slices, planner, readings, owed>>

IsMine(w) == slices[worker[w].slice].isLive /\ worker[w].isMine

Claim(w) ==
  /\ worker[w].pc = "claim"
  /\ LET s == worker[w].slice IN
     IF (ClaimIsOnOldTime => IsMine(w)) /\ slices[s].isLive
     THEN /\ slices' = [slices EXCEPT ![s].isDue = FALSE]
          /\ Moved(s, w, [worker[w] EXCEPT !.pc = "list", !.isMine = TRUE, !.after = slices[s].after])
     ELSE Move(w, IdleWorker) /\ UNCHANGED slices
  /\ UNCHANGED <<now, updated, visible, booked, head, planner, readings, owed>>

\* The worker renews the lease.
KeptAs(w, row) == [slices EXCEPT ![worker[w].slice].after = row, ![worker[w].slice].isDue = FALSE]

List(w) ==
  /\ worker[w].pc = "list"
  /\ LET slice == slices[worker[w].slice]
         rows == {r \in Rows : visible[r] /\ r > worker[w].after /\ updated[r] >= slice.from /\ updated[r] <= slice.to}
         next == Min(rows)
         page == [worker[w] EXCEPT !.pc = "book", !.row = next, !.update = updated[next], !.reading = readings]
     IN CASE rows = {} -> Move(w, [worker[w] EXCEPT !.pc = "end"]) /\ UNCHANGED slices
          [] rows # {} /\ KeptBehindPage -> Move(w, page) /\ UNCHANGED slices
          [] OTHER -> IF IsMine(w) THEN /\ slices' = KeptAs(w, next)
                                        /\ Moved(worker[w].slice, w, [page EXCEPT !.after = next])
                                   ELSE Move(w, IdleWorker) /\ UNCHANGED slices
  /\ UNCHANGED <<now, updated, visible, booked, head, planner, readings, owed>>

Book(w) ==
  /\ worker[w].pc = "book"
  /\ LET row == worker[w].row IN
     /\ booked' = [booked EXCEPT ![row] = Max(@, worker[w].update)]
     /\ owed' = IF worker[w].slice = Tail /\ worker[w].reading = readings THEN owed \ {row} ELSE owed
  /\ Move(w, [worker[w] EXCEPT !.pc = IF KeptBehindPage THEN "keep" ELSE "list", !.update = 0, !.reading = 0])
  /\ UNCHANGED <<now, updated, visible, head, slices, planner, readings>>

Keep(w) ==
  /\ worker[w].pc = "keep"
  /\ IF (KeptOnOldTime => IsMine(w)) /\ slices[worker[w].slice].isLive
     THEN /\ slices' = KeptAs(w, worker[w].row)
          /\ Moved(worker[w].slice, w, [worker[w] EXCEPT !.pc = "list", !.isMine = TRUE, !.after = worker[w].row, !.row = 0])
     ELSE Move(w, IdleWorker) /\ UNCHANGED slices
  /\ UNCHANGED <<now, updated, visible, booked, head, planner, readings, owed>>

End(w) ==
  /\ worker[w].pc = "end"
  /\ slices' = IF DoneOnOldTime => IsMine(w) THEN [slices EXCEPT ![worker[w].slice].isLive = FALSE] ELSE slices
  /\ Move(w, IdleWorker)
  /\ UNCHANGED <<now, updated, visible, booked, head, planner, readings, owed>>

WorkerDies(w) ==
  /\ worker[w].pc # "idle"
  /\ Move(w, IdleWorker)
  /\ UNCHANGED <<now, updated, visible, booked, head, slices, planner, readings, owed>>

LeaseEnds(s) ==
  /\ slices[s].isLive /\ ~slices[s].isDue
  /\ slices' = [slices EXCEPT ![s].isDue = TRUE]
  /\ UNCHANGED <<now, updated, visible, booked, head, planner, worker, readings, owed>>

Next ==
  \/ Tick \/ Register
  \/ \E r \in Rows : Update(r) \/ Show(r)
  \/ \E p \in Planners : ReadHead(p) \/ ListFirst(p) \/ BookFirst(p) \/ MoveHead(p) \/ WriteSlice(p) \/ PlannerDies(p)
  \/ \E w \in Workers : Find(w) \/ Claim(w) \/ List(w) \/ Book(w) \/ Keep(w) \/ End(w) \/ WorkerDies(w)
  \/ \E s \in 0..MostRounds : LeaseEnds(s)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Every update before the head was read, or will be read: it is in a slice that is not done, after its position. *)
NothingIsSkipped ==
  \A r \in Rows : updated[r] > 0 /\ booked[r] < updated[r] =>
    \/ updated[r] >= head.position
    \/ \E s \in 1..MostRounds :
         slices[s].isLive /\ slices[s].from <= updated[r] /\ updated[r] <= slices[s].to /\ r > slices[s].after

HeadOnlyAdvances == [][head'.position >= head.position /\ head'.round >= head.round]_vars

(* A stored position is not lost to a worker that was overtaken, until another reading begins. *)
PositionIsKept ==
  [][\A s \in 0..MostRounds : slices'[s].after >= slices[s].after \/ readings' > readings]_vars

(* No worker takes a slice from another one before its lease is over. *)
LeaseIsKept ==
  [][\A w \in Workers :
       worker[w].pc = "claim" /\ worker'[w].pc = "list" => slices[worker[w].slice].isDue]_vars

(* A row that was not final at the registration is read after it, or will be. *)
TailIsReadAgain == \A r \in owed : slices[Tail].isLive /\ r > slices[Tail].after
=============================================================================
