-------------------------------- MODULE tell --------------------------------
(*
Telling the operators of what was given up: deliveries to one endpoint are abandoned one after another, and workers tell of
them together, in messages that are claimed, published and taken off.

What it abstracts: a delivery is abandoned once, and what falls behind two thousand names in one message is left out. The
quarter of an hour between two messages and the minute that a message is left to its worker pass whenever they like, and
who has a message may publish it long after that. Any worker dies before any step. A publication that is repeated has the
same id, by which its reader knows it.
*)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Workers, Deliveries, MostMessages,
  ClaimedAsRead,     \* claimAlert in shared/webhook/delivery/abandonment-store.ts, or NamedOnce breaks
  NamesAreKept,      \* claimNext in shared/webhook/delivery/tell-abandonments.ts, or SameMessage breaks
  ToldThenTakenOff,  \* tellAbandonments in shared/webhook/delivery/tell-abandonments.ts, or NobodyIsForgotten breaks
  FirstGoesLast,     \* takeOff in shared/webhook/delivery/tell-abandonments.ts, or OpenIsDue breaks
  ClosedByItsWorker  \* closeAlert in shared/webhook/delivery/abandonment-store.ts, or NamedOnce breaks

VARIABLES
  abandoned, \* given up so far
  due,       \* those whose rows say that the operators must be told
  group,     \* the endpoint's item: the message under way and whom it names
  worker,    \* where each worker stands; isMine: the endpoint's item is as it read or wrote it
  published  \* who was named in each message that went out

vars == <<abandoned, due, group, worker, published>>

Symmetry == Permutations(Workers)
Ids == 1..MostMessages
Idle == [pc |-> "idle", id |-> 0, named |-> {}, isMine |-> FALSE]
First(named) == CHOOSE d \in named : \A e \in named : d <= e

Init ==
  /\ abandoned = {} /\ due = {}
  /\ group = [id |-> 0, last |-> 0, named |-> {}, isOver |-> FALSE, mayBeNext |-> TRUE]
  /\ worker = [w \in Workers |-> Idle]
  /\ published = [id \in Ids |-> {}]

Move(w, to) == worker' = [worker EXCEPT ![w] = to]
(* Whoever else has read the endpoint's item is refused from then on. *)
Wrote(w, to) == worker' = [v \in Workers |-> IF v = w THEN to ELSE [worker[v] EXCEPT !.isMine = FALSE]]

Abandon(d) ==
  /\ d \notin abandoned
  /\ abandoned' = abandoned \union {d}
  /\ due' = due \union {d}
  /\ UNCHANGED <<group, worker, published>>

(* Due work finds one of them, and reads the endpoint's item. *)
Look(w) ==
  /\ worker[w].pc = "idle" /\ due # {}
  /\ \/ /\ group.id # 0 /\ group.isOver
        /\ Move(w, [pc |-> "take", id |-> group.id, named |-> IF NamesAreKept THEN group.named ELSE due, isMine |-> TRUE])
     \/ /\ group.id = 0 /\ group.mayBeNext
        /\ Move(w, [Idle EXCEPT !.pc = "list", !.isMine = TRUE])
  /\ UNCHANGED <<abandoned, due, group, published>>

List(w) ==
  /\ worker[w].pc = "list"
  /\ Move(w, IF due = {} THEN Idle ELSE [worker[w] EXCEPT !.pc = "claim", !.named = due])
  /\ UNCHANGED <<abandoned, due, group, published>>

Begin == IF ToldThenTakenOff THEN "publish" ELSE "off"

Claim(w) ==
  /\ worker[w].pc = "claim"
  /\ IF group.id = 0 /\ (ClaimedAsRead => worker[w].isMine)
     THEN /\ group.last < MostMessages
          /\ group' = [id |-> group.last + 1, last |-> group.last + 1, named |-> worker[w].named, isOver |-> FALSE,
                       mayBeNext |-> FALSE]
          /\ Wrote(w, [worker[w] EXCEPT !.pc = Begin, !.id = group.last + 1, !.isMine = TRUE])
     ELSE Move(w, Idle) /\ UNCHANGED group
  /\ UNCHANGED <<abandoned, due, published>>

TakeOver(w) ==
  /\ worker[w].pc = "take"
  /\ IF group.id = worker[w].id /\ worker[w].isMine
     THEN group' = [group EXCEPT !.isOver = FALSE] /\ Wrote(w, [worker[w] EXCEPT !.pc = Begin])
     ELSE Move(w, Idle) /\ UNCHANGED group
  /\ UNCHANGED <<abandoned, due, published>>

Publish(w) ==
  /\ worker[w].pc = "publish"
  /\ published' = [published EXCEPT ![worker[w].id] = worker[w].named]
  /\ Move(w, [worker[w] EXCEPT !.pc = IF ToldThenTakenOff THEN "off" ELSE "close"])
  /\ UNCHANGED <<abandoned, due, group>>

TakeOff(w) ==
  /\ worker[w].pc = "off"
  /\ due' = due \ (IF FirstGoesLast THEN worker[w].named \ {First(worker[w].named)} ELSE worker[w].named)
  /\ Move(w, [worker[w] EXCEPT !.pc = IF ToldThenTakenOff THEN "close" ELSE "publish"])
  /\ UNCHANGED <<abandoned, group, published>>

Close(w) ==
  /\ worker[w].pc = "close"
  /\ IF ClosedByItsWorker => (group.id = worker[w].id /\ worker[w].isMine)
     THEN /\ group' = [group EXCEPT !.id = 0, !.named = {}, !.isOver = FALSE, !.mayBeNext = FALSE]
          /\ due' = due \ {First(worker[w].named)}
          /\ Wrote(w, Idle)
     ELSE Move(w, Idle) /\ UNCHANGED <<group, due>>
  /\ UNCHANGED <<abandoned, published>>

Die(w) ==
  /\ worker[w].pc # "idle"
  /\ Move(w, Idle)
  /\ UNCHANGED <<abandoned, due, group, published>>

TimePasses ==
  /\ \/ group.id # 0 /\ ~group.isOver /\ group' = [group EXCEPT !.isOver = TRUE]
     \/ group.id = 0 /\ ~group.mayBeNext /\ group' = [group EXCEPT !.mayBeNext = TRUE]
  /\ UNCHANGED <<abandoned, due, worker, published>>

Next ==
  \/ TimePasses
  \/ \E d \in Deliveries : Abandon(d)
  \/ \E w \in Workers :
       Look(w) \/ List(w) \/ Claim(w) \/ TakeOver(w) \/ Publish(w) \/ TakeOff(w) \/ Close(w) \/ Die(w)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Each abandonment is named in one message alone, *)
NamedOnce == \A i, j \in Ids : i # j => published[i] \intersect published[j] = {}

(* which says the same however often it goes out. *)
SameMessage == [][\A id \in Ids : published[id] # {} => published'[id] = published[id]]_vars

(* Whoever was given up is due until a message has named it. *)
NobodyIsForgotten == \A d \in abandoned : d \in due \/ \E id \in Ids : d \in published[id]

(* As long as a message is open something of it is due, so that somebody goes on with it. *)
OpenIsDue == group.id # 0 => group.named \intersect due # {}
=============================================================================
