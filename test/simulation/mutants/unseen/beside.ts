/** They guard neither money, nor tenancy, nor delivery: what they do guard. */
export const BESIDE: Readonly<Record<string, string>> = {
  'a create that was refused long ago is in the way of its key for ever':
    'Time deletes such a create some days later all the same.',
  'what was refunded is settled by nobody any more': 'A figure of the books, and no difference of theirs.',
  'what the slower of two has told stays open': 'A finding that an operator closes by hand.',
  'a caller waits on although the attempt has failed': 'It waits until its time is up, and is told to come again.',
  'a provider call is begun that cannot be finished in time':
    'A call cut short is an outcome nobody knows, which every attempt behind it reckons with.',
  'a commit that fails for good keeps its lease': 'It is over after thirty seconds, and whoever comes then takes over.',
  'a failed attempt does not look whether the payment is there all the same':
    'Its merchant is told to come again, and is shown the payment then.',
  'the provider is asked behind the deadline': 'The platform ends the function soon afterwards; the lease is longer.',
  'a commit that failed is not tried again': 'Its attempt is released, and the next one begins anew.',
  'a reference of any number of payments is looked through': 'What one request may cost.',
  'what is looked through for a status costs its client nothing': 'What one request may cost.',
  'payments with a reference are listed in the order of their parts': 'The order of a list.',
  'a callback whose payment could not be asked about does not make it due':
    'Its next regular check and the sync find the money, later.',
  'the callback of a payment being created is acknowledged although its request is behind too':
    'The sync finds the money, later.',
  'a status callback about a payment that is terminal is asked about': 'A call that is saved.',
  'the provider is not asked to send a callback again': 'Checks and the sync find what it told of, later.',
  'a callback that names money nobody confirms yet leaves its payment to its next regular check':
    'Its next regular check finds the money, later.',
  'the callback of money that is held already is asked for again': 'A call that is saved.',
  'a status callback about a payment that is pending is answered without asking':
    'Its next regular check finds the status, later.',
  'a provider that has answered is the network': 'The word in a log line.',
  'the provider is asked on although it has said that nothing is left': 'It refuses, and is asked later.',
  'a scheduled check overwrites another reason to look': 'It is looked at at its next regular time.',
  'a payment whose money is not shown yet waits for its next regular check': 'It is found later.',
  'a payment nobody could be asked about waits for its next regular check': 'It is found later.',
  'a request that is paid without a capture is news like any other':
    'Nothing is made of it either way; its money is found at the next regular look or by the sync, later.',
  'a callback that could not be asked about is forgotten when its process dies':
    'It is found at its next regular time.',
  'remembered captures are forgotten when their process dies': 'They are looked at at the next regular time.',
  'a look in time is left out where questions are short': 'Which look waits while the provider answers few.',
  'an item in trouble waits for its expiry': 'It is looked at later.',
  'a kind of due work that breaks off goes unnoticed': 'An alarm; the work is looked at again all the same.',
  "a client's item waits behind all those of another": 'Whose turn it is.',
  'what is too much of one client for one look is left to the next run': 'Whose turn it is.',
  "one item's trouble ends the run": 'The next run looks at the others.',
  "payments are checked beyond the provider's quota": 'It refuses, and is asked later.',
  "the provider's first 429 pauses nobody else": 'It refuses, and is asked later.',
  'a cancel that could not expire its payment leaves it to its next regular check': 'It is found later.',
  'a cursor of long ago leads out of the range that is read':
    'a reader that comes back after 90 days would be shown the events of up to 30 days more that are still kept: its own, as they were sent',
  'a first success whose answer was lost counts as lost':
    'the success is recorded; only the line and the metric that say so are missing',
  'a cursor leads before the time that was asked for':
    'an operator would have to hand back the cursor of another question; it sends again what that endpoint did not get, and nothing else',
  'every alert goes out alone':
    'only how many a message names: whoever tells asks for the door himself (group.next_at), and due work tells the rest',
  'one that comes last closes the door on those that wait':
    'only which of two messages names whom: all are named, none comes sooner than a quarter after the last',
  'a claim of an alert whose answer was lost counts as somebody else’s':
    'the message is taken over a minute later by whoever looks next, and told once',
  'the provider is asked for a fee that it cannot know yet':
    'A call of the provider too many for each payment; the estimate stays as it would.',
  'fees at success use up what the sync lists with': 'Calls of the quota: the sync waits longer, nothing is lost.',
  'a capture that is deferred is not looked at again':
    'A finding too many: the row stays open behind it all the same, and the capture is credited when the lease is over.',
  'the provider is asked for the fee that a row shows': 'A call too many.',
  'a payment exactly 24 hours old is left out': 'One millisecond: it is in the next window.',
  'a payment is settled a millisecond before it is 24 hours old': 'One millisecond, within what clocks differ.',
  'whoever loses the race for a window gives up':
    'An error to an operator, and the message comes again: it is settled by the next try.',
  'a run asks for fees as long as it likes': 'Time of a run: the function ends it, and the progress is kept.',
  'the rest of a window is settled in nobody’s name':
    "Who is named as trigger: an operator's convenience and record, no money.",
  'one that waits below the floor holds up the others':
    'A wait: the others are recorded again by no run as long as it waits; no money is wrong. No promise says by when.',
  'traffic that differs at each look is a difference':
    'A false difference must be there for an hour in two amounts: traffic makes none, and it would only be told.',
  'a client is not held to its rate limit':
    'Refusals: more requests are served than the limit says; no money, and it is no promise to the client. Cost and fairness alone.',
  'a key works in the very millisecond it expires': 'One millisecond, within what clocks differ.',
  'a proof is counted from behind the read':
    'A revocation acts seconds later than it should, within the margin of clocks.',
  'what passed before is not counted': 'A few requests more pass than the limit, of one environment; fairness alone.',
  'a flood is never counted together': 'Each environment lets its part pass: fairness alone.',
  'every environment has the whole quarter': 'A quarter of the limit for each environment: fairness alone.',
  'plenty is treated as scarce':
    'Creates beyond a quarter of the quota are refused with 429 although there is plenty; merchants come again. watch-refusals allows a quarter.',
  'a conflict is retried for ever':
    'the bound of a loop: a hundred conflicts on end do not come, and the function’s time ends it',
  'keys that are left unprocessed for ever are asked for for ever':
    'the bound of a loop: the world processes some of them each time',
  'a batch of the stream is handed back from its first record':
    'what was worked off comes again, which does no harm: deliveries are put only if absent. It costs invocations',
  'a part marks the settlement that leaves its payment out':
    'Its operator is asked to look at what is not there, and pays out the same.',
  'a payment that ends is tried for ever':
    'the bound of a loop: each of its tries has a minute, and the time of its function ends it',
  'a page that refuses one payment is taken for done':
    'The next reading of their hour makes the fees of the others final, or the settlement that asks by their seventh day: later, and the same.',
}
