/** Another condition, step or read holds the same door: what it is. Nothing goes wrong without this one alone. */
export const SECOND_LOCKS: Readonly<Record<string, string>> = {
  'a take-over does not ask whether the payment is still being created':
    'A commit takes the lease with it, and the lease must be the one that was read; or another attempt was there before.',
  'a take-over does not ask whether the lease is over':
    'The lease must be the one that was read, and whoever read it saw that it was over.',
  'a caller does not wait for the attempt that runs':
    'Its take-over is refused by the lease, and it is told to come again.',
  'an attempt that was overtaken tries its commit again':
    'Every commit of it is refused, and behind the last the release finds who took over.',
  'a reference shows what a row leads to by mistake, whoever has it':
    'The row stands under the hash of client and reference, and is written with its payment.',
  'a reference shows a payment that has another one':
    'The row stands under the hash of client and reference, and references never change.',
  'a destination shows a payment that did not show it':
    'The row stands under the hash of the destination, and is written with its payment.',
  'a payment being created succeeds under a live lease':
    'Whoever writes has read that the lease is over, and a new one has another attempt.',
  'a payment being created forgets the money that is not shown yet': 'The sync reads its row.',
  'due work is looked at before its time':
    'The drain has read the item itself, consistently, and leaves out what is not due (readWindow): the index is only asked for more rows.',
  'an id does not hash the lengths of its parts':
    'Parts have a fixed length but the last; of references alone the first has two, both of one client, and whoever reads by one asks each payment whether it is meant.',
  'the callback of late money is answered without asking': 'The sync reads its row.',
  'a check is claimed whatever its due time': 'Two looks at once apply one news, once.',
  'a check is scheduled for a payment that is terminal':
    'What leaves pending leaves due work in the same write, and the due time must be the one that was claimed.',
  'the check of a payment being created ends although it is there':
    'The due time must be the one that was claimed, and a commit that knows of a capture moves it.',
  'the check of a payment being created ends although it became due again':
    'What it remembers besides is forgotten with it, and the sync reads its row.',
  'a payment that somebody tried to cancel ends as cancelled past its time':
    'Once its expiry has begun `cancelled` is refused (mayBecome), and the next look ends it by the word of the provider.',
  'a remembered capture is dropped at the first look that does not find it': 'The sync reads its row.',
  'a payment is checked without a claim': 'Two looks at once apply one news, once.',
  'a cancel is accepted in any status': 'It is answered by the status that is kept.',
  'a cancel goes on although the payment has left pending': 'It is answered by the status that is kept.',
  'completing an event makes one that is not there':
    'an event without ttl is never deleted, and its ttl is written by the completion itself: whoever completes it read it minutes (stream: a day) before, it stays 120 days',
  'an event that is gone comes back without its bytes':
    'a delivery whose event is asked for ends (ttl 90 days) before the event does (120 days from the last sending), so the row that is kept is there',
  'an event is overdue before its time':
    'the drain has read the item itself, consistently, and left out what is not due (readWindow); between that and this read only another claim comes, after which the postponement on the value just read moves it once more',
  'an alert that is out is taken off twice':
    'removing what is not there changes nothing; only what is owed again (reopenLeftOut) between publishing and taking off, milliseconds, could be lost by it',
  'a finished delivery is attempted':
    'the worker has read it as scheduled; whoever finishes it with an attempt moves `attempts`, and one that was skipped has no next_attempt_at, which the claim compares',
  'an attempt is claimed before it is due':
    'with the same number of attempts next_attempt_at only changes by a new round, which is due at once; the worker has compared the same value before',
  'a result is recorded under a number that is taken':
    'the claim token is new for each claim and goes with the result that is recorded on it: it cannot stand on a row whose number has moved',
  'a result is recorded on somebody else’s claim':
    'a claim is never replaced without its attempt being recorded, which moves `attempts`: the number beside it refuses',
  'a mark makes an endpoint': 'an endpoint that was read leaves a tombstone at most: its row is there for ever',
  'nobody is told of a delivery that was abandoned':
    'the row is due for its alert (work `alert`, a minute later): due work tells them',
  'an attempt is overdue before its time':
    'the drain has read the item itself and left out what is not due (readWindow); what is moved in between is refused by nothing, but only a moment long, and costs a message too many',
  'an alert that is on its way is written over':
    'next_at moves with the claim (now + 15 min), on whose old value the other condition stands: while a message is open it is another than what was read before it',
  'an alert is taken over for another one': 'claimed_until beside it is another for every message',
  'the fee of a payment that has not succeeded becomes final':
    'Whoever makes a fee final has read the payment as succeeded (isCreditedWith in the sync, finalFee), and succeeded is terminal.',
  'a fee is taken from a transaction that was reversed':
    'The adapter makes no kept amount of a fee that is CANCELED or REVERSED: keptMinor is absent then, which is asked beside it.',
  'a fee is taken from a refund of the payment':
    'The adapter makes a kept amount of SETTLED rows alone, and rows of refunds and disputes have no settlement.',
  'what a row shows counts under a contract that bills later':
    'Under that contract feeAtSuccess makes every fee final at success: no estimated one ever meets a row.',
  'a row about another request credits':
    "One attempt makes one request, so whoever names the attempt's reference names the request.",
  'a refund is taken for the payment it refunds':
    'reconcileCredited asks isMoneyBack again and reverses all the same; what is not about the credit ends as a finding by askAndReconcile.',
  'a window that was swept is opened again':
    "settledUntil equals the client's creation only until the first sweep: the condition beside it.",
  'a settlement is written over another one': 'Ids are time and 80 random bits: none is ever there.',
  'a settlement that has not failed is recredited':
    'recreditSettlement reads the status first, and failed is terminal.',
  'sums that do not add up are settled': 'Sums of payments whose own nets add up (watch-fees) always add up.',
  'a statement is given out that does not add up':
    'Settlements always add up to their payments in a history: nobody tampers with the table.',
  'a payout makes a window where there is none': 'A window is born with its client and never deleted.',
  "a key works for the client it names and not for its item's":
    'A key is looked up by the hash of its whole text, so text and item name one client.',
  'a key of another stage is looked up': 'The hash of a text that names another stage is the id of no item.',
  'a key is written over another one': 'Ids are hashes of 32 random bytes: none is ever there.',
  'a client is written over another one': 'Ids are random: none is ever there.',
  'a settlement window is written over another one': "Its client's id is random and new, in the same transaction.",
  'an endpoint is written over another one': 'the id of a new endpoint is random: there is none to write over',
  'a record of the stream that failed is lost':
    'the event stays due work until it is fanned out: check-due-events finds it two minutes later',
  'a list over several parts believes its index':
    'listPayments, which alone reads such lists, leaves out what has another status, and no payment changes its part.',
}
