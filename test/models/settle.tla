------------------------------- MODULE settle -------------------------------
(*
The journal of one client. Workers post payments and take them back, while a sweep and a trigger sum and record
settlements. Operators pay out, fail and re-credit.

A transaction checks its conditions at one moment and commits item by item. Other writes, and reads of one item, come
before that moment or after it. A query does not: it sees the entries of a transaction one after another, in any order.

What the model assumes: an entry is visible within the second that a settlement waits after its fence. The tail that is
read twice and the audit a minute later are for slower commits, and are left out.

What it abstracts:
- Time is a number. Every clock shows any time, so each worker and each run chooses its time freely.
- A process reads, and writes any time later, or never.
- Payment p is in shard p, and is paid a day before time p. Its net is 1. A refund takes back all of it.
- A sum is the set of its entries. One page has the entries of one time. A run may end after each page.
- A run may stop before its record, so the floor is left out.
- A record leaves the progress where it is. The code removes it too, but `start` alone is enough.
- The number of a progress spares work. It guards nothing here, and is left out.
Late rows and adjustments have the conditions of a refund. Disputes, refunds of a part and payments that are void while
they are open are left to the random histories in test/simulation.
*)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Settlers, Workers, Operators,
  Payments, Refunded, LastTime,
  FenceIsRaised,       \* raiseFence in shared/ledger/fence-store.ts, or SumIsItsEntries breaks
  FenceBeforeSum,      \* settleOnce in shared/settlement/settle-client.ts, or SumIsItsEntries breaks
  EveryShardIsClosed,  \* raiseFence in shared/ledger/fence-store.ts, or SumIsItsEntries breaks
  FenceNeverFalls,     \* raiseFence in shared/ledger/fence-store.ts, or SumIsItsEntries breaks
  SumWaits,            \* VISIBLE_AFTER_MS in shared/ledger/fence-store.ts, or SumIsItsEntries breaks
  ShardIsOpen,         \* moveCredit in shared/ledger/shard-store.ts, or SumIsItsEntries breaks
  EligibleIfPosted,    \* eligibleAt in shared/posting/payment-entries.ts, or SumIsItsEntries breaks
  SumHasItsEnd,        \* settleOnce in shared/settlement/settle-client.ts, or RunsAddUp breaks
  SumHasItsStart,      \* keptProgress in shared/settlement/settlement-store.ts, or RunsAddUp breaks
  SweepIsOnOldStart,   \* sweepWindow in shared/ledger/window-store.ts, or InOneSettlement breaks
  SweepIsOneWrite,     \* recordSettlement in shared/settlement/settle-client.ts, or InOneSettlement breaks
  MoneyVersion,        \* changeMoney in shared/posting/posting-store.ts, or EntriesAddUp breaks
  RowMovesOnce,        \* hasMoved in shared/journal/payment-money.ts, or EntriesAddUp breaks
  RecreditIsOpen,      \* recreditWindow in shared/ledger/window-store.ts, or CarriedOnce breaks
  RecreditedOnce,      \* markRecredited in shared/settlement/settlement-store.ts, or MoneyAddsUp breaks
  ClosedOnce           \* markClosed in shared/settlement/settlement-store.ts, or MoneyAddsUp breaks

VARIABLES
  payment,      \* each payment's item
  closed,       \* the fence of each shard; 0 where there is no shard
  window,       \* the client's item
  entries,      \* the journal
  hidden,       \* entries that are committed, and that no query sees yet
  settlements,
  worker, settler, operator

vars == <<payment, closed, window, entries, hidden, settlements, worker, settler, operator>>
actors == <<worker, settler, operator>>
journal == <<payment, entries, hidden>>

Symmetry ==
  Permutations(Settlers) \union Permutations(Workers) \union Permutations(Operators)
Times == 1..LastTime
Ids == Times
Max(a, b) == IF a > b THEN a ELSE b

NoProgress == [start |-> 0, end |-> 0, at |-> 0, of |-> {}]
NoSettlement == [status |-> "none", from |-> 0, until |-> 0, of |-> {}, recredited |-> FALSE]
IdleWorker == [pc |-> "idle", id |-> 0, read |-> [open |-> FALSE, back |-> FALSE, version |-> 0], at |-> 0]
IdleSettler ==
  [pc |-> "idle", start |-> 0, end |-> 0, left |-> {}, waits |-> {}, from |-> 0, at |-> 0, of |-> {}]
IdleOperator == [pc |-> "idle", id |-> 0, at |-> 0]

Init ==
  /\ payment = [p \in Payments |-> [open |-> TRUE, back |-> FALSE, version |-> 0]]
  /\ closed = [s \in Payments |-> 1]
  /\ window = [until |-> 1, closed |-> 1, progress |-> NoProgress,
               available |-> 0, inSettlement |-> 0, paidOut |-> 0]
  /\ entries = {} /\ hidden = {}
  /\ settlements = [s \in Ids |-> NoSettlement]
  /\ worker = [w \in Workers |-> IdleWorker]
  /\ settler = [w \in Settlers |-> IdleSettler]
  /\ operator = [o \in Operators |-> IdleOperator]

Entry(type, of, at, net) == [type |-> type, of |-> of, at |-> at, net |-> net]

RECURSIVE Net(_)
Net(set) == IF set = {} THEN 0 ELSE LET e == CHOOSE e \in set : TRUE IN e.net + Net(set \ {e})

Recredits(set) == {e \in set : e.type = "recredit"}

(* A transaction puts its entries. A query sees them later. *)
Put(new) ==
  /\ entries' = entries \union new
  /\ hidden' = hidden \union (new \ entries)

Show ==
  /\ \E e \in hidden :
       /\ hidden' = hidden \ {e}
       /\ settler' = [w \in Settlers |-> [settler[w] EXCEPT !.waits = @ \ {e}]]
  /\ UNCHANGED <<payment, closed, window, entries, settlements, worker, operator>>

-----------------------------------------------------------------------------
(* Workers: postPayments and movePayment *)

Work(w, to) == worker' = [worker EXCEPT ![w] = to]

ReadPayment(w) ==
  /\ worker[w].pc = "idle"
  /\ \E p \in Payments, t \in Times :
       LET read == payment[p] IN
       \E pc \in {"post", "refund"} :
         /\ IF pc = "post" THEN read.open ELSE p \in Refunded /\ (RowMovesOnce => ~read.back)
         /\ Work(w, [pc |-> pc, id |-> p, read |-> read, at |-> t])
  /\ UNCHANGED <<closed, window, settlements, settler, operator, journal>>

EligibleAt(p, postedAt) == IF EligibleIfPosted THEN Max(postedAt, p) ELSE p

(* An open payment only notes a refund. Its posting writes the refund's entry too. *)
Added(p, pc, read, postedAt) ==
  LET at == EligibleAt(p, postedAt)
      hasRefund == IF pc = "post" THEN read.back ELSE ~read.open
  IN (IF pc = "post" THEN {Entry("payment", p, at, 1)} ELSE {})
       \union (IF hasRefund THEN {Entry("refund", p, at, -1)} ELSE {})

ChangeMoney(w) ==
  /\ worker[w].pc # "idle"
  /\ LET run == worker[w]
         p == run.id
         added == Added(p, run.pc, run.read, run.at)
         isAllowed == /\ MoneyVersion => payment[p].version = run.read.version
                      /\ payment[p].open = run.read.open
                      /\ ShardIsOpen /\ added # {} => closed[p] <= run.at
     IN IF isAllowed
        THEN /\ payment' = [payment EXCEPT ![p].open = run.read.open /\ run.pc # "post",
                                           ![p].back = @ \/ run.pc = "refund",
                                           ![p].version = run.read.version + 1]
             /\ Put(added)
        ELSE UNCHANGED journal
  /\ Work(w, IdleWorker)
  /\ UNCHANGED <<closed, window, settlements, settler, operator>>

-----------------------------------------------------------------------------
(* A sweep, or an operator's trigger: settleClient *)

Settle(w, to) == settler' = [settler EXCEPT ![w] = to]

ReadWindow(w) ==
  /\ settler[w].pc = "idle"
  /\ LET progress == window.progress
         isKept == progress # NoProgress /\ (SumHasItsStart => progress.start = window.until)
         from == IF isKept THEN progress ELSE [NoProgress EXCEPT !.at = window.until]
     IN \E end \in window.until + 1 .. LastTime + 1 :
          /\ SumHasItsEnd => end >= from.end
          /\ Settle(w, [IdleSettler EXCEPT !.pc = "window", !.start = window.until, !.end = end,
                                           !.from = from.at, !.at = from.at, !.of = from.of])
  /\ UNCHANGED <<closed, window, settlements, worker, operator, journal>>

Raised(fence, end) == IF FenceNeverFalls THEN Max(fence, end) ELSE end

CloseWindow(w) ==
  /\ settler[w].pc = "window"
  /\ IF FenceIsRaised
     THEN /\ window' = [window EXCEPT !.closed = Raised(@, settler[w].end)]
          /\ Settle(w, [settler[w] EXCEPT !.pc = "shards", !.left = Payments])
     ELSE UNCHANGED window /\ Settle(w, [settler[w] EXCEPT !.pc = "shards"])
  /\ UNCHANGED <<closed, settlements, worker, operator, journal>>

CloseShard(w) ==
  /\ \E s \in settler[w].left :
       /\ \/ closed' = [closed EXCEPT ![s] = Raised(@, settler[w].end)]
          \/ ~EveryShardIsClosed /\ UNCHANGED closed
       /\ Settle(w, [settler[w] EXCEPT !.left = @ \ {s}])
  /\ UNCHANGED <<window, settlements, worker, operator, journal>>

Wait(w) ==
  /\ settler[w].pc = "shards" /\ (FenceBeforeSum => settler[w].left = {})
  /\ Settle(w, [settler[w] EXCEPT !.pc = "sum", !.waits = IF SumWaits THEN hidden ELSE {}])
  /\ UNCHANGED <<closed, window, settlements, worker, operator, journal>>

SumPage(w) ==
  /\ settler[w].pc = "sum" /\ settler[w].waits = {} /\ settler[w].at < settler[w].end
  /\ LET run == settler[w]
         page == {e \in entries \ hidden : e.at = run.at}
     IN Settle(w, [run EXCEPT !.at = @ + 1, !.of = @ \union page])
  /\ UNCHANGED <<closed, window, settlements, worker, operator, journal>>

KeepSum(w) ==
  /\ settler[w].pc = "sum" /\ settler[w].at > settler[w].from /\ settler[w].at < settler[w].end
  /\ LET run == settler[w] IN
     window' = IF window.until = run.start
               THEN [window EXCEPT !.progress = [start |-> run.start, end |-> run.end, at |-> run.at, of |-> run.of]]
               ELSE window
  /\ Settle(w, IdleSettler)
  /\ UNCHANGED <<closed, settlements, worker, operator, journal>>

IsNext(id) == settlements[id].status = "none" /\ \A before \in 1..(id - 1) : settlements[before].status # "none"

Recorded(run) ==
  [NoSettlement EXCEPT !.status = "recorded", !.from = run.start, !.until = run.end, !.of = run.of]

Record(w) ==
  /\ settler[w].pc = "sum" /\ settler[w].at >= settler[w].end /\ settler[w].left = {} /\ settler[w].of # {}
  /\ LET run == settler[w] IN
     IF SweepIsOnOldStart => window.until = run.start
     THEN /\ window' = [window EXCEPT !.until = run.end, !.inSettlement = @ + Net(run.of),
                                      !.available = @ - Net(Recredits(run.of))]
          /\ IF SweepIsOneWrite
             THEN /\ \E id \in Ids : IsNext(id) /\ settlements' = [settlements EXCEPT ![id] = Recorded(run)]
                  /\ Settle(w, IdleSettler)
             ELSE UNCHANGED settlements /\ Settle(w, [run EXCEPT !.pc = "put"])
     ELSE UNCHANGED <<window, settlements>> /\ Settle(w, IdleSettler)
  /\ UNCHANGED <<closed, worker, operator, journal>>

PutSettlement(w) ==
  /\ settler[w].pc = "put"
  /\ \E id \in Ids : IsNext(id) /\ settlements' = [settlements EXCEPT ![id] = Recorded(settler[w])]
  /\ Settle(w, IdleSettler)
  /\ UNCHANGED <<closed, window, worker, operator, journal>>

(* The run dies, or its sum is not above the floor. *)
Stop(w) ==
  /\ settler[w].pc # "idle"
  /\ Settle(w, IdleSettler)
  /\ UNCHANGED <<closed, window, settlements, worker, operator, journal>>

-----------------------------------------------------------------------------
(* Operators: markSettlementPaid, markSettlementFailed, recreditSettlement *)

ReadSettlement(o) ==
  /\ operator[o].pc = "idle"
  /\ \E id \in Ids :
       LET read == settlements[id] IN
       \E pc \in CASE read.status = "recorded" -> {"pay", "fail"}
                   [] read.status = "failed" /\ ~read.recredited -> {"recredit"}
                   [] OTHER -> {},
          t \in Times :
         /\ pc # "recredit" => t = 1
         /\ operator' = [operator EXCEPT ![o] = [pc |-> pc, id |-> id, at |-> t]]
  /\ UNCHANGED <<closed, window, settlements, worker, settler, journal>>

Done(o) == operator' = [operator EXCEPT ![o] = IdleOperator]

Close(o) ==
  /\ operator[o].pc \in {"pay", "fail"}
  /\ LET id == operator[o].id
         net == Net(settlements[id].of)
     IN CASE ClosedOnce /\ settlements[id].status # "recorded" -> UNCHANGED <<window, settlements>>
          [] operator[o].pc = "pay" ->
               /\ settlements' = [settlements EXCEPT ![id].status = "manual_paid"]
               /\ window' = [window EXCEPT !.inSettlement = @ - net, !.paidOut = @ + net]
          [] OTHER -> settlements' = [settlements EXCEPT ![id].status = "failed"] /\ UNCHANGED window
  /\ Done(o)
  /\ UNCHANGED <<closed, worker, settler, journal>>

Recredit(o) ==
  /\ operator[o].pc = "recredit"
  /\ LET id == operator[o].id
         net == Net(settlements[id].of)
         isAllowed == /\ settlements[id].status = "failed"
                      /\ RecreditedOnce => ~settlements[id].recredited
                      /\ RecreditIsOpen => window.closed <= operator[o].at
     IN IF isAllowed
        THEN /\ settlements' = [settlements EXCEPT ![id].recredited = TRUE]
             /\ window' = [window EXCEPT !.available = @ + net, !.inSettlement = @ - net]
             /\ Put({Entry("recredit", id, operator[o].at, net)})
             /\ UNCHANGED payment
        ELSE UNCHANGED <<window, settlements, journal>>
  /\ Done(o)
  /\ UNCHANGED <<closed, worker, settler>>

Next ==
  \/ Show
  \/ \E w \in Workers : ReadPayment(w) \/ ChangeMoney(w)
  \/ \E w \in Settlers :
       ReadWindow(w) \/ CloseWindow(w) \/ CloseShard(w) \/ Wait(w) \/ SumPage(w) \/ KeepSum(w) \/ Record(w)
         \/ PutSettlement(w) \/ Stop(w)
  \/ \E o \in Operators : ReadSettlement(o) \/ Close(o) \/ Recredit(o)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
Made == {id \in Ids : settlements[id].status # "none"}
EntriesOf(p) == {e \in entries : e.type # "recredit" /\ e.of = p}

(* No entry lands in a window that is summed or swept: a settlement is all of its window. *)
SumIsItsEntries ==
  \A id \in Made :
    settlements[id].of = {e \in entries : settlements[id].from <= e.at /\ e.at < settlements[id].until}

(* Every entry before the last cut is in one settlement, and no later entry is in any. *)
InOneSettlement ==
  \A e \in entries : Cardinality({id \in Made : e \in settlements[id].of}) = IF e.at < window.until THEN 1 ELSE 0

(* The same where one sum takes several runs. *)
RunsAddUp == SumIsItsEntries /\ InOneSettlement

(* The same where settlements fail and are carried into the next one. *)
CarriedOnce == SumIsItsEntries /\ InOneSettlement

(* A payment's entries add up to its state. *)
EntriesAddUp == \A p \in Payments : Net(EntriesOf(p)) = IF payment[p].open \/ payment[p].back THEN 0 ELSE 1

(* The figures of the window match its settlements and re-credits. *)
RECURSIVE NetOf(_)
NetOf(ids) == IF ids = {} THEN 0 ELSE LET id == CHOOSE id \in ids : TRUE IN Net(settlements[id].of) + NetOf(ids \ {id})
MoneyAddsUp ==
  /\ window.paidOut = NetOf({id \in Made : settlements[id].status = "manual_paid"})
  /\ window.inSettlement = NetOf({id \in Made : settlements[id].status # "manual_paid" /\ ~settlements[id].recredited})
  /\ window.available = Net({e \in Recredits(entries) : e.at >= window.until})
=============================================================================
