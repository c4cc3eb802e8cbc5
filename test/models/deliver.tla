------------------------------ MODULE deliver ------------------------------
(*
One event on its way to one endpoint: the commit, workers with messages, due work, operators who send it again.

What it abstracts: a round has Most attempts instead of eight, and a wait passes whenever it likes. A message is there or
not; it may come twice, to two workers at once, or be lost. A claim of any worker runs out at any time, which
stands for wrong clocks and frozen workers. Any worker dies before any step, and what it has sent to the table
may be applied after that. Endpoints are never disabled, and bytes are not looked at. A message to the operators names
everything of the endpoint that they have not been told of, and is noted some time later.
*)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Workers, Operators, None, Most, MostRounds, MostDeaths,
  EventIsNew,         \* announcementOf in shared/payment/announcement.ts, or OnePost breaks
  DeliveryIsNew,      \* insertDelivery in shared/webhook/delivery/delivery-store.ts, or OnePost breaks
  BornDue,            \* newDelivery in shared/webhook/delivery/delivery-store.ts, or NothingIsForgotten breaks
  ScheduledIsDue,     \* scheduleFields in shared/webhook/delivery/delivery-store.ts, or NothingIsForgotten breaks
  MessagesComeAgain,  \* checkOverdueDelivery in shared/webhook/delivery/check-overdue-delivery.ts, or Ends breaks
  ClaimIsFree,        \* isUnclaimed in shared/webhook/send/attempt-store.ts, or OnePost breaks
  WaitIsOver,         \* deliverWebhook in shared/webhook/send/deliver-webhook.ts, or WaitsAreKept breaks
  LostIsFailed,       \* handleClaimedDelivery in shared/webhook/send/deliver-webhook.ts, or OnePost breaks
  ResultHasItsClaim,  \* hasSameClaim in shared/webhook/send/attempt-store.ts, or ResultsStand breaks
  RoundEnds,          \* WAITS_MS in shared/webhook/send/record-attempt-result.ts, or RoundIsBounded breaks
  AbandonedIsTold,    \* changesAfter in shared/webhook/send/attempt-store.ts, or AlertIsDue breaks
  RoundIsNew,         \* startRound in shared/webhook/delivery/round-store.ts, or RoundIsBounded breaks
  ToldFirst,          \* alertBeforeRound in shared/webhook/delivery/alert-abandoned.ts, or AlertIsDue breaks
  NotedAsRead         \* endAlert in shared/webhook/delivery/delivery-store.ts, or AlertIsDue breaks

VARIABLES
  event,    \* whether it is committed
  row,      \* the delivery's item
  message,  \* whether a message of the next attempt is on its way
  worker,   \* the step of each worker, and what it has read
  late,     \* a result on its way to the table whose worker is gone
  operator, \* who sends it again
  posts,    \* how often each attempt was posted
  results,  \* the recorded results of each attempt
  unreported,   \* abandonments, by their last attempt, without an alert to the operators
  telling,  \* attempts whose abandonment was told and is not yet noted
  deaths    \* of workers and messages

vars == <<event, row, message, worker, late, operator, posts, results, unreported, telling, deaths>>

Symmetry == Permutations(Workers) \union Permutations(Operators)
Numbers == 1..((Most + 1) * MostRounds)
NoRow == [status |-> "none", attempts |-> 0, roundStart |-> 0, claim |-> None, isOver |-> FALSE, isReady |-> FALSE,
          due |-> "none", rounds |-> 0]
Born == [NoRow EXCEPT !.status = "scheduled", !.isReady = TRUE, !.rounds = 1,
                        !.due = IF BornDue THEN "delivery" ELSE "none"]
Idle == [pc |-> "idle", token |-> None, number |-> 0, roundStart |-> 0, ok |-> FALSE]
Finished == {"succeeded", "abandoned"}

Init ==
  /\ event = FALSE /\ row = NoRow /\ message = FALSE
  /\ worker = [w \in Workers |-> Idle]
  /\ late = [w \in Workers |-> Idle]
  /\ operator = [o \in Operators |-> [pc |-> "idle", read |-> NoRow]]
  /\ posts = [n \in Numbers |-> 0]
  /\ results = [n \in Numbers |-> "none"]
  /\ unreported = {} /\ telling = {} /\ deaths = 0

-----------------------------------------------------------------------------
(* The commit: the event, and its delivery if the endpoint wants it, in one transaction that its worker may retry *)

Commit ==
  /\ EventIsNew => ~event
  /\ event' = TRUE
  /\ \/ row' = Born
     \/ UNCHANGED row
  /\ UNCHANGED <<message, worker, late, operator, posts, results, unreported, telling, deaths>>

(* The messages leave after the commit, or never. *)
Announce ==
  /\ row.status = "scheduled" /\ row.attempts = 0 /\ ~message
  /\ message' = TRUE
  /\ UNCHANGED <<event, row, worker, late, operator, posts, results, unreported, telling, deaths>>

(* An operator sends what an endpoint has missed. *)
InsertMissing ==
  /\ event
  /\ row.status = "none" \/ ~DeliveryIsNew
  /\ row' = Born
  /\ UNCHANGED <<event, message, worker, late, operator, posts, results, unreported, telling, deaths>>

-----------------------------------------------------------------------------
(* A worker: deliverWebhook, recordAttemptResult *)

Move(w, to) == worker' = [worker EXCEPT ![w] = to]

Look(w) ==
  /\ worker[w].pc = "idle" /\ message /\ row.status = "scheduled"
  /\ LET read == [Idle EXCEPT !.token = row.claim, !.number = row.attempts + 1, !.roundStart = row.roundStart]
     IN CASE row.claim = None -> (WaitIsOver => row.isReady) /\ Move(w, [read EXCEPT !.pc = "claim"])
          [] row.claim # None /\ row.isOver ->
               Move(w, IF LostIsFailed THEN [read EXCEPT !.pc = "record"] ELSE [read EXCEPT !.pc = "claim"])
          [] OTHER -> FALSE
  /\ UNCHANGED <<event, row, message, late, operator, posts, results, unreported, telling, deaths>>

Claim(w) ==
  /\ worker[w].pc = "claim"
  /\ LET read == worker[w]
         isFree == /\ row.status = "scheduled" /\ row.attempts = read.number - 1
                   /\ row.claim = None \/ (~LostIsFailed /\ row.isOver)
     IN IF (ClaimIsFree => isFree) /\ row.status = "scheduled"
        THEN /\ row' = [row EXCEPT !.claim = w, !.isOver = FALSE]
             /\ Move(w, [read EXCEPT !.pc = "post", !.token = w])
        ELSE Move(w, Idle) /\ UNCHANGED row
  /\ UNCHANGED <<event, message, late, operator, posts, results, unreported, telling, deaths>>

Post(w) ==
  /\ worker[w].pc = "post"
  /\ posts' = [posts EXCEPT ![worker[w].number] = @ + 1]
  /\ \E ok \in BOOLEAN : Move(w, [worker[w] EXCEPT !.pc = "record", !.ok = ok])
  /\ UNCHANGED <<event, row, message, late, operator, results, unreported, telling, deaths>>

(* One write: the delivery's row, and but for a first success the attempt's own row. *)
MayStore(r) == ResultHasItsClaim => row.attempts = r.number - 1 /\ row.claim = r.token

Unclaimed(r) == [row EXCEPT !.attempts = r.number, !.claim = None, !.isOver = FALSE]

Store(r) ==
  LET isLast == r.number - r.roundStart >= Most /\ RoundEnds IN
  /\ results' = [results EXCEPT ![r.number] = IF r.ok THEN "ok" ELSE "failed"]
  /\ message' = FALSE
  /\ CASE r.ok -> /\ row' = [Unclaimed(r) EXCEPT !.status = "succeeded", !.isReady = FALSE, !.due = "none"]
                  /\ UNCHANGED unreported
       [] ~r.ok /\ ~isLast -> /\ row' = [Unclaimed(r) EXCEPT !.status = "scheduled", !.isReady = FALSE,
                                                             !.due = IF ScheduledIsDue THEN "delivery" ELSE "none"]
                              /\ UNCHANGED unreported
       [] OTHER -> /\ row' = [Unclaimed(r) EXCEPT !.status = "abandoned", !.isReady = FALSE,
                                                  !.due = IF AbandonedIsTold THEN "alert" ELSE "none"]
                   /\ unreported' = unreported \union {r.number}

Record(w) ==
  /\ worker[w].pc = "record"
  /\ IF MayStore(worker[w])
     THEN /\ Store(worker[w])
          /\ \/ worker[w].ok /\ Move(w, Idle)
             \/ ~worker[w].ok /\ Move(w, [Idle EXCEPT !.pc = "send"])
     ELSE Move(w, Idle) /\ UNCHANGED <<row, message, results, unreported>>
  /\ UNCHANGED <<event, late, operator, posts, telling, deaths>>

Send(w) ==
  /\ worker[w].pc = "send"
  /\ message' = (row.status = "scheduled")
  /\ Move(w, Idle)
  /\ UNCHANGED <<event, row, late, operator, posts, results, unreported, telling, deaths>>

Die(w) ==
  /\ worker[w].pc # "idle" /\ deaths < MostDeaths
  /\ deaths' = deaths + 1
  /\ Move(w, Idle)
  \* The dead worker's write may still arrive.
  /\ \/ UNCHANGED late
     \/ worker[w].pc = "record" /\ late' = [late EXCEPT ![w] = worker[w]]
  /\ UNCHANGED <<event, row, message, operator, posts, results, unreported, telling>>

RecordLate(w) ==
  /\ late[w] # Idle
  /\ late' = [late EXCEPT ![w] = Idle]
  /\ IF MayStore(late[w]) THEN Store(late[w]) ELSE UNCHANGED <<row, message, results, unreported>>
  /\ UNCHANGED <<event, worker, operator, posts, telling, deaths>>

-----------------------------------------------------------------------------
(* Time, queues, due work *)

ClaimRunsOut ==
  /\ row.claim # None /\ ~row.isOver
  /\ row' = [row EXCEPT !.isOver = TRUE]
  /\ UNCHANGED <<event, message, worker, late, operator, posts, results, unreported, telling, deaths>>

WaitPasses ==
  /\ row.status = "scheduled" /\ ~row.isReady
  /\ row' = [row EXCEPT !.isReady = TRUE]
  /\ UNCHANGED <<event, message, worker, late, operator, posts, results, unreported, telling, deaths>>

LoseMessage ==
  /\ message /\ deaths < MostDeaths
  /\ message' = FALSE
  /\ deaths' = deaths + 1
  /\ UNCHANGED <<event, row, worker, late, operator, posts, results, unreported, telling>>

SendAgain ==
  /\ MessagesComeAgain /\ row.due = "delivery" /\ ~message
  /\ message' = TRUE
  /\ UNCHANGED <<event, row, worker, late, operator, posts, results, unreported, telling, deaths>>

(* One message tells all waiting abandonments of the endpoint. They are noted after it. *)
Tell ==
  /\ row.due = "alert"
  /\ unreported' = {}
  /\ telling' = telling \union {row.attempts}
  /\ UNCHANGED <<event, row, message, worker, late, operator, posts, results, deaths>>

Note ==
  \E n \in telling :
    /\ LET isThere == row.status = "abandoned" /\ row.due = "alert" /\ row.attempts = n
       IN row' = IF NotedAsRead => isThere THEN [row EXCEPT !.due = "none"] ELSE row
    /\ \/ telling' = telling \ {n} /\ UNCHANGED deaths
       \* A second worker has told the same abandonment, or the write arrives twice.
       \/ deaths < MostDeaths /\ deaths' = deaths + 1 /\ UNCHANGED telling
    /\ UNCHANGED <<event, message, worker, late, operator, posts, results, unreported>>

(* The abandonment is told once more. *)
TellerDies ==
  /\ deaths < MostDeaths /\ telling # {}
  /\ \E n \in telling : telling' = telling \ {n}
  /\ deaths' = deaths + 1
  /\ UNCHANGED <<event, row, message, worker, late, operator, posts, results, unreported>>

-----------------------------------------------------------------------------
(* An operator or a merchant redelivers: beginRound *)

Ask(o) ==
  /\ operator[o].pc = "idle" /\ row.status \in Finished /\ row.rounds < MostRounds
  \* An abandonment of the delivery is told before, by the same steps.
  /\ ToldFirst => row.due # "alert"
  /\ operator' = [operator EXCEPT ![o] = [pc |-> "start", read |-> row]]
  /\ UNCHANGED <<event, row, message, worker, late, posts, results, unreported, telling, deaths>>

Start(o) ==
  /\ operator[o].pc = "start"
  /\ LET read == operator[o].read
         isNew == row.status = read.status /\ row.attempts = read.attempts
     IN IF (RoundIsNew => isNew) /\ row.rounds < MostRounds
        THEN /\ row' = [row EXCEPT !.status = "scheduled", !.isReady = TRUE, !.due = "delivery",
                                   !.roundStart = read.attempts, !.rounds = @ + 1]
             /\ operator' = [operator EXCEPT ![o].pc = "send"]
        ELSE /\ operator' = [operator EXCEPT ![o] = [pc |-> "idle", read |-> NoRow]]
             /\ UNCHANGED row
  /\ UNCHANGED <<event, message, worker, late, posts, results, unreported, telling, deaths>>

SendRound(o) ==
  /\ operator[o].pc = "send"
  /\ message' = (row.status = "scheduled")
  /\ operator' = [operator EXCEPT ![o] = [pc |-> "idle", read |-> NoRow]]
  /\ UNCHANGED <<event, row, worker, late, posts, results, unreported, telling, deaths>>

OperatorDies(o) ==
  /\ operator[o].pc # "idle"
  /\ operator' = [operator EXCEPT ![o] = [pc |-> "idle", read |-> NoRow]]
  /\ UNCHANGED <<event, row, message, worker, late, posts, results, unreported, telling, deaths>>

-----------------------------------------------------------------------------
Work(w) == Look(w) \/ Claim(w) \/ Post(w) \/ Record(w) \/ Send(w)
Operate(o) == Ask(o) \/ Start(o) \/ SendRound(o) \/ OperatorDies(o)

Next ==
  \/ Commit \/ Announce \/ InsertMissing
  \/ \E w \in Workers : Work(w) \/ Die(w) \/ RecordLate(w)
  \/ ClaimRunsOut \/ WaitPasses \/ LoseMessage \/ SendAgain \/ Tell \/ Note \/ TellerDies
  \/ \E o \in Operators : Operate(o)

(* Every minute's run happens again, a living worker continues, and time passes. *)
Fairness ==
  /\ WF_vars(Commit) /\ WF_vars(ClaimRunsOut) /\ WF_vars(WaitPasses) /\ WF_vars(SendAgain) /\ WF_vars(Tell)
  /\ WF_vars(Note)
  /\ \A w \in Workers : WF_vars(Work(w))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* The number of an attempt is posted once, whatever crashes. *)
OnePost == \A n \in Numbers : posts[n] <= 1

(* Nothing is posted before its wait is over. *)
WaitsAreKept == row.claim # None => row.isReady

RoundIsBounded == row.attempts - row.roundStart <= Most

(* The result of an attempt stays, attempts are not undone, and only a new round undoes a success. *)
ResultsStand ==
  [][/\ \A n \in Numbers : results[n] # "none" => results'[n] = results[n]
     /\ row'.attempts >= row.attempts
     /\ (row.status \in Finished /\ row'.status # row.status) => (row'.rounds > row.rounds)]_vars

(* Due work checks a delivery until it ends. *)
NothingIsForgotten == row.status = "scheduled" => row.due = "delivery"

(* An abandoned delivery is due until the operators are told. *)
AlertIsDue == \A n \in unreported : row.status = "abandoned" /\ row.due = "alert" /\ row.attempts = n

Ends == <>[](event /\ row.status # "scheduled" /\ unreported = {})
=============================================================================
