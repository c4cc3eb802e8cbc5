------------------------------- MODULE settle -------------------------------
(*
One client's payouts: sweeps and triggers that settle its window, operators who pay out, fail and recredit, and money of
its payments that goes back meanwhile.

What it abstracts: a payment is a number, the order in which it was paid, and its net is 1, so that a sum is the set it was
added up from; a payment ripens whenever it likes, and a run may end a window before what is ripe, as one whose fee is not
known ends it. The floor is 0. Everybody reads first and writes later, in one transaction; whoever has read may die. The
index from a payment to its settlements may be behind. Parts that go back, and money that comes again, are left to the
random histories of test/integration/reversal.
*)
EXTENDS Naturals, Integers, FiniteSets, TLC

CONSTANTS
  Settlers, Operators, Payments, MostSettlements,
  SweepIsOneWrite,     \* recordSettlement in shared/settlement/record-settlement.ts, or NothingIsSkipped breaks
  SweepIsOnOldStart,   \* sweepStep in shared/settlement/window-store.ts, or NoTwoLive breaks
  SweepSeesReversals,  \* sweepStep in shared/settlement/window-store.ts, or ReversedIsOwed breaks
  StandsThenDeducts,   \* withoutReversed in shared/settlement/settle-client.ts, or ReversedIsOwed breaks
  ReversedBeforeSweep, \* countReversal in shared/ledger/reversal-store.ts, or ReversedIsOwed breaks
  ReversalsAreCounted, \* countReversal in shared/ledger/reversal-store.ts, or ReversedIsOwed breaks
  NotedOnItsState,     \* noteReversedOf in shared/settlement/settlement-store.ts, or MoneyAddsUp breaks
  LeftOutWaits,        \* leaveOutStep in shared/settlement/window-store.ts, or MoneyAddsUp breaks
  ClosedOnce,          \* closeStep in shared/settlement/settlement-store.ts, or MoneyAddsUp breaks
  PaidAsSeen,          \* closeStep in shared/settlement/settlement-store.ts, or PayoutIsConfirmed breaks
  RecreditedOnce,      \* markRecredited in shared/settlement/settlement-store.ts, or MoneyAddsUp breaks
  RecreditedAsSeen,    \* markRecredited in shared/settlement/settlement-store.ts, or MoneyAddsUp breaks
  RecreditCloses,      \* recreditSettlement in shared/settlement/recredit-settlement.ts, or OwedOnce breaks
  RedrawnOnce,         \* redrawStep in shared/settlement/window-store.ts, or NoTwoLive breaks
  RedrawnAsSeen        \* checkReversedAsRead in shared/settlement/settlement-store.ts, or ReversedIsOwed breaks

VARIABLES
  ripe,        \* the payments that may be settled
  window,      \* the client's item
  settlements,
  reversed,    \* payments whose money went back
  deducted,    \* those of them that no settlement had swept
  owed,        \* receivables that are open
  settler, operator, reverser

vars == <<ripe, window, settlements, reversed, deducted, owed, settler, operator, reverser>>

Symmetry == Permutations(Settlers) \union Permutations(Operators)
Ids == 1..MostSettlements
NoSettlement == [status |-> "none", recredited |-> FALSE, of |-> {}, gone |-> {}, confirmed |-> {}]
IdleSettler == [pc |-> "idle", until |-> 0, seq |-> 0, end |-> 0, of |-> {}, id |-> 0, read |-> NoSettlement]
IdleOperator == [pc |-> "idle", id |-> 0, gone |-> {}]
IdleReverser == [pc |-> "idle", seq |-> 0, id |-> 0, status |-> "none", recredited |-> FALSE]

Init ==
  /\ ripe = 0
  /\ window = [until |-> 1, seq |-> 0, waiting |-> {}, available |-> 0, inSettlement |-> 0, paidOut |-> 0]
  /\ settlements = [s \in Ids |-> NoSettlement]
  /\ reversed = {} /\ deducted = {} /\ owed = {}
  /\ settler = [w \in Settlers |-> IdleSettler]
  /\ operator = [o \in Operators |-> IdleOperator]
  /\ reverser = [p \in Payments |-> IdleReverser]

Net(set) == Cardinality(set)
Remaining(s) == s.of \ s.gone
IsNext(id) == settlements[id].status = "none" /\ \A before \in 1..(id - 1) : settlements[before].status # "none"
New(of) == [NoSettlement EXCEPT !.status = "recorded", !.of = of]

Ripen ==
  /\ ripe < Cardinality(Payments)
  /\ ripe' = ripe + 1
  /\ UNCHANGED <<window, settlements, reversed, deducted, owed, settler, operator, reverser>>

-----------------------------------------------------------------------------
(* A sweep, or an operator's trigger: settleClient, rerecordSettlements *)

Settle(w, to) == settler' = [settler EXCEPT ![w] = to]

ReadWindow(w) ==
  /\ settler[w].pc = "idle" /\ window.until <= ripe
  /\ \E end \in window.until + 1 .. ripe + 1 :
       Settle(w, [IdleSettler EXCEPT !.pc = IF StandsThenDeducts THEN "stand" ELSE "deduct",
                                     !.until = window.until, !.end = end])
  /\ UNCHANGED <<ripe, window, settlements, reversed, deducted, owed, operator, reverser>>

Stand(w) ==
  /\ settler[w].pc = "stand"
  /\ IF window.until = settler[w].until
     THEN Settle(w, [settler[w] EXCEPT !.pc = IF StandsThenDeducts THEN "deduct" ELSE "record", !.seq = window.seq])
     ELSE Settle(w, IdleSettler)
  /\ UNCHANGED <<ripe, window, settlements, reversed, deducted, owed, operator, reverser>>

Deduct(w) ==
  /\ settler[w].pc = "deduct"
  /\ LET run == settler[w] IN
     Settle(w, [run EXCEPT !.pc = IF StandsThenDeducts THEN "record" ELSE "stand",
                           !.of = {p \in Payments : run.until <= p /\ p < run.end} \ deducted])
  /\ UNCHANGED <<ripe, window, settlements, reversed, deducted, owed, operator, reverser>>

Record(w) ==
  /\ settler[w].pc = "record"
  /\ LET run == settler[w]
         stands == /\ SweepIsOnOldStart => window.until = run.until
                   /\ SweepSeesReversals => window.seq = run.seq
     IN IF run.of # {} /\ stands
        THEN \E id \in Ids :
               /\ IsNext(id)
               /\ window' = [window EXCEPT !.until = run.end, !.inSettlement = @ + Net(run.of)]
               /\ IF SweepIsOneWrite
                  THEN settlements' = [settlements EXCEPT ![id] = New(run.of)] /\ Settle(w, IdleSettler)
                  ELSE UNCHANGED settlements /\ Settle(w, [run EXCEPT !.pc = "put", !.id = id])
        ELSE Settle(w, IdleSettler) /\ UNCHANGED <<window, settlements>>
  /\ UNCHANGED <<ripe, reversed, deducted, owed, operator, reverser>>

Put(w) ==
  /\ settler[w].pc = "put"
  /\ settlements' = [settlements EXCEPT ![settler[w].id] = New(settler[w].of)]
  /\ Settle(w, IdleSettler)
  /\ UNCHANGED <<ripe, window, reversed, deducted, owed, operator, reverser>>

ReadWaiting(w) ==
  /\ settler[w].pc = "idle"
  /\ \E id \in window.waiting :
       /\ Remaining(settlements[id]) # {}
       /\ Settle(w, [IdleSettler EXCEPT !.pc = "redraw", !.id = id, !.read = settlements[id]])
  /\ UNCHANGED <<ripe, window, settlements, reversed, deducted, owed, operator, reverser>>

Redraw(w) ==
  /\ settler[w].pc = "redraw"
  /\ LET failed == settler[w].id
         read == settler[w].read
         of == Remaining(read)
         isFree == /\ RedrawnOnce => failed \in window.waiting
                   /\ RedrawnAsSeen => settlements[failed].gone = read.gone
     IN IF isFree
        THEN \E id \in Ids :
               /\ IsNext(id)
               /\ settlements' = [settlements EXCEPT ![id] = New(of)]
               /\ window' = [window EXCEPT !.waiting = @ \ {failed}, !.available = @ - Net(of),
                                           !.inSettlement = @ + Net(of)]
        ELSE UNCHANGED <<window, settlements>>
  /\ Settle(w, IdleSettler)
  /\ UNCHANGED <<ripe, reversed, deducted, owed, operator, reverser>>

SettlerDies(w) ==
  /\ settler[w].pc = "put"
  /\ Settle(w, IdleSettler)
  /\ UNCHANGED <<ripe, window, settlements, reversed, deducted, owed, operator, reverser>>

-----------------------------------------------------------------------------
(* Operators: markSettlementPaid, markSettlementFailed, recreditSettlement *)

Read(o) ==
  /\ operator[o].pc = "idle"
  /\ \E id \in Ids :
       LET read == settlements[id] IN
       \E pc \in CASE read.status = "recorded" -> {"pay", "fail"}
                   [] read.status = "failed" /\ ~read.recredited -> {"recredit"}
                   [] OTHER -> {} :
         operator' = [operator EXCEPT ![o] = [pc |-> pc, id |-> id, gone |-> IF pc = "fail" THEN {} ELSE read.gone]]
  /\ UNCHANGED <<ripe, window, settlements, reversed, deducted, owed, settler, reverser>>

Done(o) == operator' = [operator EXCEPT ![o] = IdleOperator]

Pay(o) ==
  /\ operator[o].pc = "pay"
  /\ LET id == operator[o].id
         isOpen == /\ ClosedOnce => settlements[id].status = "recorded"
                   /\ PaidAsSeen => settlements[id].gone = operator[o].gone
         net == Net(settlements[id].of)
     IN IF isOpen
        THEN /\ settlements' = [settlements EXCEPT ![id].status = "manual_paid", ![id].confirmed = operator[o].gone]
             /\ window' = [window EXCEPT !.inSettlement = @ - net, !.paidOut = @ + net]
        ELSE UNCHANGED <<window, settlements>>
  /\ Done(o)
  /\ UNCHANGED <<ripe, reversed, deducted, owed, settler, reverser>>

Fail(o) ==
  /\ operator[o].pc = "fail"
  /\ LET id == operator[o].id IN
     settlements' = IF settlements[id].status = "recorded" \/ ~ClosedOnce
                    THEN [settlements EXCEPT ![id].status = "failed"] ELSE settlements
  /\ Done(o)
  /\ UNCHANGED <<ripe, window, reversed, deducted, owed, settler, reverser>>

Recredit(o) ==
  /\ operator[o].pc = "recredit"
  /\ LET id == operator[o].id
         of == settlements[id].of
         isFree == /\ settlements[id].status = "failed"
                   /\ RecreditedOnce => ~settlements[id].recredited
                   /\ RecreditedAsSeen => settlements[id].gone = operator[o].gone
         rest == of \ operator[o].gone
     IN IF isFree
        THEN /\ settlements' = [settlements EXCEPT ![id].recredited = TRUE]
             /\ window' = [window EXCEPT !.available = @ + Net(rest), !.inSettlement = @ - Net(of),
                                         !.waiting = IF rest = {} THEN @ ELSE @ \union {id}]
             /\ owed' = IF RecreditCloses THEN owed \ operator[o].gone ELSE owed
        ELSE UNCHANGED <<window, settlements, owed>>
  /\ Done(o)
  /\ UNCHANGED <<ripe, reversed, deducted, settler, reverser>>

-----------------------------------------------------------------------------
(* Money that goes back: reversePayment, once for each payment *)

Reverse(p, to) == reverser' = [reverser EXCEPT ![p] = to]

Hear(p) ==
  /\ reverser[p].pc = "idle" /\ p \notin reversed /\ p <= ripe + 1
  /\ IF p >= window.until
     THEN Reverse(p, [IdleReverser EXCEPT !.pc = "unswept", !.seq = window.seq])
     ELSE \E id \in Ids :
            /\ p \in settlements[id].of
            /\ Reverse(p, [IdleReverser EXCEPT !.pc = "swept", !.id = id, !.status = settlements[id].status,
                                               !.recredited = settlements[id].recredited])
  /\ UNCHANGED <<ripe, window, settlements, reversed, deducted, owed, settler, operator>>

ReverseUnswept(p) ==
  /\ reverser[p].pc = "unswept"
  /\ LET isFree == /\ ReversedBeforeSweep => window.until <= p
                   /\ ReversalsAreCounted => window.seq = reverser[p].seq
     IN IF isFree
        THEN /\ deducted' = deducted \union {p}
             /\ reversed' = reversed \union {p}
             /\ window' = [window EXCEPT !.seq = reverser[p].seq + 1]
        ELSE UNCHANGED <<deducted, reversed, window>>
  /\ Reverse(p, IdleReverser)
  /\ UNCHANGED <<ripe, settlements, owed, settler, operator>>

ReverseSwept(p) ==
  /\ reverser[p].pc = "swept"
  /\ LET id == reverser[p].id
         read == reverser[p]
         isAsRead == settlements[id].status = read.status /\ settlements[id].recredited = read.recredited
         noted == [settlements EXCEPT ![id].gone = @ \union {p}]
     IN CASE read.status = "manual_paid" ->
               /\ reversed' = reversed \union {p} /\ owed' = owed \union {p}
               /\ UNCHANGED <<settlements, window>>
          [] read.status # "manual_paid" /\ ~read.recredited /\ (NotedOnItsState => isAsRead) ->
               /\ reversed' = reversed \union {p} /\ owed' = owed \union {p}
               /\ settlements' = noted
               /\ UNCHANGED window
          [] read.recredited /\ isAsRead /\ (LeftOutWaits => id \in window.waiting) ->
               /\ reversed' = reversed \union {p}
               /\ settlements' = noted
               /\ window' = [window EXCEPT !.available = @ - 1]
               /\ UNCHANGED owed
          [] OTHER -> UNCHANGED <<settlements, window, reversed, owed>>
  /\ Reverse(p, IdleReverser)
  /\ UNCHANGED <<ripe, deducted, settler, operator>>

Next ==
  \/ Ripen
  \/ \E w \in Settlers :
       ReadWindow(w) \/ Stand(w) \/ Deduct(w) \/ Record(w) \/ Put(w) \/ ReadWaiting(w) \/ Redraw(w) \/ SettlerDies(w)
  \/ \E o \in Operators : Read(o) \/ Pay(o) \/ Fail(o) \/ Recredit(o)
  \/ \E p \in Payments : Hear(p) \/ ReverseUnswept(p) \/ ReverseSwept(p)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
IsLive(s) == s.status # "none" /\ ~s.recredited
Live == {id \in Ids : IsLive(settlements[id])}

(* Nobody is paid for a payment twice. *)
NoTwoLive == \A i, j \in Live : i # j => settlements[i].of \intersect settlements[j].of = {}

(* What a window has passed is in a settlement, was left out of it, or had gone back before. *)
NothingIsSkipped ==
  \A p \in Payments : p < window.until => p \in deducted \/ \E id \in Ids : p \in settlements[id].of

(* What has gone back and is, or will be, paid out is owed: nothing that went back before is inside. *)
ReversedIsOwed == \A id \in Live : settlements[id].of \intersect reversed \subseteq owed

(* And nothing else is: what a settlement leaves out, its client does not owe as well. *)
OwedOnce == \A p \in owed : \E id \in Live : p \in settlements[id].of

(* The figures of the window are what the settlements say. *)
Total(ids, sets) == Net({<<id, p>> \in ids \X Payments : p \in sets[id]})
MoneyAddsUp ==
  /\ window.paidOut = Total({id \in Live : settlements[id].status = "manual_paid"}, [id \in Ids |-> settlements[id].of])
  /\ window.inSettlement =
       Total({id \in Live : settlements[id].status # "manual_paid"}, [id \in Ids |-> settlements[id].of])
  /\ window.available = Total(window.waiting, [id \in Ids |-> Remaining(settlements[id])])

(* Who pays out has seen what went back until then. *)
PayoutIsConfirmed ==
  \A id \in Ids : settlements[id].status = "manual_paid" => settlements[id].gone = settlements[id].confirmed
=============================================================================
