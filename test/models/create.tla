------------------------------- MODULE create -------------------------------
(*
One payment's create: several callers with one idempotency key, each with a body of its own.

What it abstracts: a lease ends at any time, and a reader may still take it for live. That stands for wrong clocks, frozen
processes and slow ones. A caller makes one call upstream, so its request bears its name. Any process dies before any
step; a write is applied with or without an answer, and a commit may be applied long after its caller gave up. Amounts, expiries and prices are left out, and so is the quota.
In the channel "push" the request goes to the customer's phone: nothing is shown, and a push that was sent lives until one
lifetime after the end of its lease, or of its call. The check of its lease and the sending are one step.
*)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Callers, None, Channel,
  ClaimIsNew,          \* claimPayment in shared/payment/creating-store.ts, or OnePayment breaks
  TakeoverIsNext,      \* claimTakeover in shared/payment/creating-store.ts, or AttemptOnce breaks
  TakeoverSeesRelease, \* claimTakeover in shared/payment/creating-store.ts, or OrphansAreKnown breaks
  TakeoverKeepsDue,    \* claimTakeover in shared/payment/creating-store.ts, or RememberedIsDue breaks
  BodyStays,           \* takeOverPayment in shared/payment/create/create-payment.ts, or OneBody breaks
  ForgetsRefusedOnly,  \* releaseAttempt in shared/payment/creating-store.ts, or OneBody breaks
  ReleaseKeepsDue,     \* releaseAttempt in shared/payment/creating-store.ts, or RememberedIsDue breaks
  CommitIsCreating,    \* commitPending in shared/payment/creating-store.ts, or OnePayment breaks
  CommitIsItsAttempt,  \* commitPending in shared/payment/creating-store.ts, or ShownIsOpen breaks
  CommitRemembers,     \* commitPending in shared/payment/creating-store.ts, or RememberedIsKept breaks
  UnknownIsLeftAlone,  \* runAttempt in shared/payment/create/run-attempt.ts, or ShownIsOpen breaks
  OvertakenIsCancelled,\* runAttempt in shared/payment/create/run-attempt.ts, or OrphansAreKnown breaks
  SucceedIsCreating,   \* commitSucceeded in shared/payment/creating-store.ts, or OnePayment breaks
  SucceedIsPending,    \* leavePending in shared/payment/payment-store.ts, or CreditedOnce breaks
  PushIsHeldBack,      \* holdBackPush in shared/payment/create/hold-back-push.ts, or OnePush breaks
  PushNeedsItsLease    \* runAttempt in shared/payment/create/run-attempt.ts, or OnePush breaks

VARIABLES
  row,     \* the payment's item
  caller,  \* the step of each caller, and what it has read
  up,      \* each caller's request upstream; lost: it can be paid, and no process knows of it any more
  news,    \* who brings the money of each request
  late,    \* commits on their way whose callers no longer wait for them
  quiet,   \* a push's lifetime has passed since the last lease, or call, ended
  expired, \* requests whose time was up before they were shown
  noted,   \* captures that were remembered
  held     \* captures in suspense

vars == <<row, caller, up, news, late, quiet, expired, noted, held>>

Symmetry == Permutations(Callers)
IsPush == Channel = "push"
Open == {"pending", "succeeded"}
\* Attempts that left nothing upstream.
WithoutTrace == {"refused", "not_executed"}
NoRow ==
  [status |-> "none", attempt |-> 0, lease |-> "none", last |-> "none", mayExist |-> FALSE, body |-> None,
   remembered |-> {}, due |-> "none", ttl |-> FALSE, ids |-> {}, dest |-> None, credited |-> None]
\* The fields that a caller uses of the read row.
Nothing == [lease |-> "none", last |-> "none", mayExist |-> FALSE, body |-> None, remembered |-> {}, ids |-> {}]
AsRead(r) == [field \in DOMAIN Nothing |-> r[field]]
Began(r, remembered) == [Nothing EXCEPT !.mayExist = r.mayExist, !.body = r.body, !.remembered = remembered]
Ended == [pc |-> "done", attempt |-> 0, read |-> Nothing, out |-> "none"]
NoCommit == [attempt |-> 0, read |-> Nothing]

Init ==
  /\ row = NoRow
  /\ caller = [i \in Callers |-> [Ended EXCEPT !.pc = "start"]]
  /\ up = [i \in Callers |-> [state |-> "none", body |-> None, attempt |-> 0]]
  /\ news = [i \in Callers |-> [do |-> "read", attempt |-> 0]]
  /\ late = [i \in Callers |-> NoCommit]
  /\ quiet = FALSE /\ expired = {} /\ noted = {} /\ held = {}

At(i, pc) == caller[i].pc = pc
Go(i, pc) == caller' = [caller EXCEPT ![i].pc = pc]
\* A caller ends with an answer or a failure. Each answer is the stored row.
End(i) == caller' = [caller EXCEPT ![i] = Ended]
IsIts(i) == row.status = "creating" /\ row.attempt = caller[i].attempt
Accounted(j) == row.credited = j \/ j \in held

-----------------------------------------------------------------------------
(* A caller: createPayment, waitForAttempt, takeOverPayment, runAttempt, commitAttempt *)

Claim(i) ==
  /\ At(i, "start")
  /\ LET mine == [NoRow EXCEPT !.status = "creating", !.attempt = 1, !.lease = "live", !.last = "started",
                               !.body = i, !.due = "look"]
     IN \/ /\ row.status = "none" \/ (row.status = "creating" /\ row.ttl) \/ ~ClaimIsNew
           /\ row' = mine
           /\ quiet' = FALSE
           \* Applied, its answer lost: the second try is refused by the first.
           /\ \/ caller' = [caller EXCEPT ![i].pc = "call", ![i].attempt = 1, ![i].read = Began(mine, {})]
              \/ Go(i, "look")
        \/ row.status # "none" /\ Go(i, "look") /\ UNCHANGED <<row, quiet>>
  /\ UNCHANGED <<up, news, late, expired, noted, held>>

(* A caller waits for a push of any attempt that may still be answered or was paid. *)
MayTakeOver ==
  \/ ~IsPush \/ ~PushIsHeldBack
  \/ /\ row.last \in {"started", "unknown"} => quiet
     /\ \A j \in Callers : up[j].state = "paid" => Accounted(j)

GoTake(i) ==
  /\ row.status = "creating" /\ row.lease # "live" /\ MayTakeOver
  /\ caller' = [caller EXCEPT ![i].pc = "take", ![i].attempt = row.attempt, ![i].read = AsRead(row)]

Look(i) ==
  /\ At(i, "look")
  /\ \/ row.status \in Open /\ End(i)
     \/ GoTake(i)
     \/ row.status = "creating" /\ row.lease # "none" /\ Go(i, "wait")
  /\ UNCHANGED <<row, up, news, late, quiet, expired, noted, held>>

(* A waiting caller takes over only an attempt that made no call. After another failure it answers that failure. *)
Wait(i) ==
  /\ At(i, "wait")
  /\ \/ row.status \in Open /\ End(i)
     \/ row.last = "not_executed" /\ GoTake(i)
     \/ row.status = "creating" /\ row.lease # "live" /\ End(i)
  /\ UNCHANGED <<row, up, news, late, quiet, expired, noted, held>>

TakeOver(i) ==
  /\ At(i, "take")
  /\ LET read == caller[i].read
         allRefused == ~read.mayExist /\ read.last = "refused"
         isFree == /\ row.status = "creating" /\ row.lease # "live"
                   /\ TakeoverIsNext => row.attempt = caller[i].attempt
                   /\ TakeoverSeesRelease => row.lease = read.lease
                   /\ TakeoverKeepsDue => ((row.remembered = {}) <=> (read.remembered = {}))
         taken == [row EXCEPT !.attempt = caller[i].attempt + 1, !.lease = "live", !.last = "started", !.ttl = FALSE,
                              !.mayExist = read.mayExist \/ read.last \notin WithoutTrace,
                              !.body = IF allRefused \/ ~BodyStays THEN i ELSE read.body,
                              !.due = IF read.remembered # {} THEN row.due ELSE "look",
                              !.ids = read.ids]
     IN IF isFree
        THEN /\ row' = taken
             /\ quiet' = FALSE
             /\ caller' = [caller EXCEPT ![i].pc = "call", ![i].attempt = taken.attempt,
                                         ![i].read = Began(taken, read.remembered)]
        ELSE /\ caller' = [caller EXCEPT ![i] = [Ended EXCEPT !.pc = "look"]]
             /\ UNCHANGED <<row, quiet>>
  /\ UNCHANGED <<up, news, late, expired, noted, held>>

Sent(i, state) == up' = [up EXCEPT ![i] = [state |-> state, body |-> caller[i].read.body, attempt |-> caller[i].attempt]]
Release(i, out) == caller' = [caller EXCEPT ![i].pc = "release", ![i].out = out]
Drop(i, next) == caller' = [caller EXCEPT ![i].pc = "orphan", ![i].out = next]

Call(i) ==
  /\ At(i, "call")
  /\ \/ Release(i, "not_executed") /\ UNCHANGED <<up, expired>>
     \/ /\ (IsPush /\ PushNeedsItsLease) => (row.lease = "live" /\ IsIts(i))
        /\ \/ Sent(i, "open") /\ Go(i, "commit") /\ UNCHANGED expired
           \* Without a destination, or past its expiry by now.
           \/ Sent(i, "open") /\ Drop(i, "release") /\ expired' = expired \union {i}
           \/ Release(i, "refused") /\ UNCHANGED <<up, expired>>
           \/ Release(i, "unknown") /\ UNCHANGED <<up, expired>>
           \/ Sent(i, "lost") /\ Release(i, "unknown") /\ UNCHANGED expired
  /\ UNCHANGED <<row, news, late, quiet, noted, held>>

MayCommit(commit) ==
  /\ CommitIsCreating => row.status = "creating"
  /\ CommitIsItsAttempt => row.attempt = commit.attempt
  /\ CommitRemembers => row.remembered = commit.read.remembered

Committed(i, commit) ==
  [row EXCEPT !.status = "pending", !.attempt = commit.attempt, !.lease = "none", !.dest = i, !.credited = None,
              !.remembered = commit.read.remembered,
              !.due = IF commit.read.remembered # {} THEN "capture" ELSE "look"]

Commit(i) ==
  /\ At(i, "commit")
  /\ \/ /\ MayCommit(caller[i]) /\ row' = Committed(i, caller[i])
        /\ End(i) \/ Go(i, "recheck")
        /\ UNCHANGED late
     \/ ~MayCommit(caller[i]) /\ Go(i, "recheck") /\ UNCHANGED <<row, late>>
     \* The commit failed as far as the caller knows: it tries again, or ends.
     \/ /\ late' = [late EXCEPT ![i] = [attempt |-> caller[i].attempt, read |-> caller[i].read]]
        /\ Go(i, "recheck") \/ Go(i, "giveup")
        /\ UNCHANGED row
  /\ UNCHANGED <<up, news, quiet, expired, noted, held>>

LateCommit(i) ==
  /\ late[i] # NoCommit
  /\ late' = [late EXCEPT ![i] = NoCommit]
  /\ row' = IF MayCommit(late[i]) THEN Committed(i, late[i]) ELSE row
  /\ UNCHANGED <<caller, up, news, quiet, expired, noted, held>>

Overtaken(i) == IF OvertakenIsCancelled THEN Drop(i, "end") ELSE End(i)

Recheck(i) ==
  /\ At(i, "recheck")
  /\ CASE row.status \in Open /\ row.dest = i -> End(i) /\ UNCHANGED expired
       [] row.status \in Open /\ row.dest # i -> Overtaken(i) /\ UNCHANGED expired
       [] row.status = "creating" /\ row.attempt # caller[i].attempt -> Overtaken(i) /\ UNCHANGED expired
       [] OTHER ->
            \/ caller' = [caller EXCEPT ![i].pc = "commit", ![i].read.remembered = row.remembered] /\ UNCHANGED expired
            \/ Drop(i, "release") /\ expired' = expired \union {i}
  /\ UNCHANGED <<row, up, news, late, quiet, noted, held>>

Released(i, out, ids) ==
  [row EXCEPT !.lease = "none", !.last = out, !.ids = row.ids \union ids,
              !.ttl = row.remembered = {} /\ (~ForgetsRefusedOnly \/ (out \in WithoutTrace /\ ~caller[i].read.mayExist)),
              !.due = IF row.remembered # {} /\ ReleaseKeepsDue THEN row.due ELSE "none"]

(* Only the release finds out whether our commit was applied, and what to do about our request. *)
GiveUp(i) ==
  /\ At(i, "giveup")
  /\ CASE IsIts(i) ->
            /\ row' = Released(i, "unknown", {i})
            /\ up' = IF UnknownIsLeftAlone THEN up ELSE [up EXCEPT ![i].state = "cancelled"]
            /\ quiet' = FALSE
            /\ End(i)
       [] row.status \in Open /\ row.dest = i -> End(i) /\ UNCHANGED <<row, up, quiet>>
       [] OTHER -> Overtaken(i) /\ UNCHANGED <<row, up, quiet>>
  /\ UNCHANGED <<news, late, expired, noted, held>>

CancelOrphan(i) ==
  /\ At(i, "orphan")
  \* The provider refuses to cancel a paid request, and it may not answer at all.
  /\ \E state \in {"cancelled", "lost"} : up' = [up EXCEPT ![i].state = IF @ = "open" THEN state ELSE @]
  /\ IF caller[i].out = "end" THEN End(i) ELSE Release(i, "unknown")
  /\ UNCHANGED <<row, news, late, quiet, expired, noted, held>>

DoRelease(i) ==
  /\ At(i, "release")
  /\ IF IsIts(i) THEN row' = Released(i, caller[i].out, {}) /\ quiet' = FALSE ELSE UNCHANGED <<row, quiet>>
  /\ End(i)
  /\ UNCHANGED <<up, news, late, expired, noted, held>>

Die(i) ==
  /\ caller[i].pc \notin {"start", "done"}
  /\ End(i)
  /\ up' = [up EXCEPT ![i].state = IF @ = "open" THEN "lost" ELSE @]
  /\ UNCHANGED <<row, news, late, quiet, expired, noted, held>>

-----------------------------------------------------------------------------
(* Time, and customers *)

LeaseEnds ==
  /\ row.lease = "live"
  /\ row' = [row EXCEPT !.lease = "over"]
  /\ UNCHANGED <<caller, up, news, late, quiet, expired, noted, held>>

LifetimePasses ==
  /\ IsPush /\ row.status = "creating" /\ row.lease # "live" /\ ~quiet
  /\ quiet' = TRUE
  /\ up' = [i \in Callers |-> IF up[i].state \in {"open", "lost"} THEN [up[i] EXCEPT !.state = "ended"] ELSE up[i]]
  /\ UNCHANGED <<row, caller, news, late, expired, noted, held>>

Pay(j) ==
  /\ up[j].state \in {"open", "lost"}
  /\ up' = [up EXCEPT ![j].state = "paid"]
  /\ UNCHANGED <<row, caller, news, late, quiet, expired, noted, held>>

-----------------------------------------------------------------------------
(* The process that brings the money: applyNews, by callback, due work or sync; it reads, decides, and writes on a condition *)

Decide(j) ==
  /\ up[j].state = "paid" /\ ~Accounted(j) /\ news[j].do = "read" /\ row.status # "none"
  /\ \E do \in CASE row.status = "creating" -> {"remember"} \union (IF row.lease = "live" THEN {} ELSE {"succeed_creating"})
                 [] row.status = "pending" -> {"succeed"}
                 [] OTHER -> {"hold"} :
       \* No process takes a row without a lease for live. A slow clock may take an ended lease for live.
       /\ ~(do = "remember" /\ row.lease = "none")
       /\ ~(do = "remember" /\ j \in row.remembered)
       /\ news' = [news EXCEPT ![j] = [do |-> do, attempt |-> row.attempt]]
  /\ UNCHANGED <<row, caller, up, late, quiet, expired, noted, held>>

Decided(j, do) == news[j].do = do /\ news' = [news EXCEPT ![j].do = "read", ![j].attempt = 0]

Remember(j) ==
  /\ Decided(j, "remember")
  /\ IF row.status = "creating"
     THEN /\ row' = [row EXCEPT !.remembered = @ \union {j}, !.due = "capture", !.ttl = FALSE]
          /\ noted' = noted \union {j}
     ELSE UNCHANGED <<row, noted>>
  /\ UNCHANGED <<caller, up, late, quiet, expired, held>>

Credited(j) == [row EXCEPT !.status = "succeeded", !.credited = j, !.lease = "none", !.due = "none"]

SucceedCreating(j) ==
  /\ Decided(j, "succeed_creating")
  /\ row' = IF SucceedIsCreating => row.status = "creating" /\ row.attempt = news[j].attempt /\ row.lease # "live"
            THEN [Credited(j) EXCEPT !.dest = j] ELSE row
  /\ UNCHANGED <<caller, up, late, quiet, expired, noted, held>>

SucceedPending(j) ==
  /\ Decided(j, "succeed")
  /\ LET isPending == SucceedIsPending => row.status = "pending" IN
     /\ row' = IF isPending THEN Credited(j) ELSE row
     \* Paid through another attempt: the destination shown must not take money a second time.
     /\ up' = IF isPending /\ row.dest # j /\ up[row.dest].state \in {"open", "lost"}
              THEN [up EXCEPT ![row.dest].state = "cancelled"] ELSE up
  /\ UNCHANGED <<caller, late, quiet, expired, noted, held>>

Hold(j) ==
  /\ Decided(j, "hold")
  /\ held' = held \union {j}
  /\ UNCHANGED <<row, caller, up, late, quiet, expired, noted>>

Next ==
  \/ LeaseEnds \/ LifetimePasses
  \/ \E i \in Callers :
       \/ Claim(i) \/ Look(i) \/ Wait(i) \/ TakeOver(i) \/ Call(i) \/ Commit(i) \/ LateCommit(i) \/ Recheck(i) \/ GiveUp(i)
       \/ CancelOrphan(i) \/ DoRelease(i) \/ Die(i)
       \/ Pay(i) \/ Decide(i) \/ Remember(i) \/ SucceedCreating(i) \/ SucceedPending(i) \/ Hold(i)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* A key makes one payment for ever: it is not made again, and its destination does not change. *)
OnePayment ==
  [][row.status \in Open => row'.dest = row.dest /\ row'.status \in Open
                                                      /\ (row.status = "succeeded" => row'.status = "succeeded")]_vars

(* No caller is shown a destination that we have closed, unless its time was up, or the payment is paid. *)
ShownIsOpen == row.status = "pending" /\ up[row.dest].state = "cancelled" => row.dest \in expired

(* Every other payable request is known to a caller, noted on the payment, or unknowable. *)
OrphansAreKnown == \A i \in Callers : up[i].state = "open" /\ row.dest # i => caller[i].pc # "done" \/ i \in row.ids

(* The number of an attempt, which is its reference upstream, is used once. *)
AttemptOnce == \A i, j \in Callers : i # j /\ up[i].state # "none" /\ up[j].state # "none" => up[i].attempt # up[j].attempt

(* Every payable request was made with the body of the payment. *)
OneBody == \A i \in Callers : up[i].state \in {"open", "lost", "paid"} => up[i].body = row.body

CreditedOnce == [][row.credited # None => row'.credited = row.credited]_vars

(* A capture that was remembered stays on the payment until the payment is paid, and is checked without waiting. *)
RememberedIsKept == row.status \in {"creating", "pending"} => noted \subseteq row.remembered
RememberedIsDue == row.status \in {"creating", "pending"} /\ row.remembered # {} => row.due = "capture"

(* A customer never has two pushes to answer. *)
OnePush == Cardinality({i \in Callers : up[i].state \in {"open", "lost"}}) <= 1
=============================================================================
