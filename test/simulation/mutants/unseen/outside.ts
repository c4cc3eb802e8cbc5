/** Their code stands where histories have a stand-in, or never come: what would have to be there. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  'a second push is sent although rows are missing': 'No reference of a history has more than one page of rows.',
  'a push is forgotten behind ten attempts that were refused': 'No create of a history is tried twenty times.',
  "another push's row decides about this one": 'The provider of histories finds rows by the whole reference.',
  "another payment's money decides about this push":
    'The provider of histories answers about the payment that it is asked about.',
  'an e-wallet code that is a card form or a virtual account is taken':
    'Merchants of histories ask for channels that there are.',
  'an e-wallet code that is a bank is taken': 'Merchants of histories ask for channels that there are.',
  'any currency is credited': 'The provider of histories takes nothing but rupiah.',
  'a payment that is not captured counts as money, asked for by the request':
    'The provider of histories shows no payment without its capture.',
  'a payment that is not captured counts as money, asked for by a callback':
    'The provider of histories shows no payment without its capture.',
  'the older of two callback tokens is refused': 'Nobody exchanges tokens in a history.',
  'a callback token that can be guessed is believed': 'Deployment.',
  'tokens that will be refused are left behind without a word': 'Deployment.',
  'a later deployment copies old tokens over new ones': 'Deployment.',
  'functions change before the tokens are copied': 'Deployment.',
  'a stage behind its front answers whoever asks': 'Histories have no front.',
  'the previous origin secret is refused while it is exchanged': 'Histories have no front.',
  'a balance may be kept by a cache on the way': 'Histories have no caches on the way.',
  'an id of any form enters the path of a question': 'The provider of histories makes ids of its own form.',
  'an id of any form enters the path of a cancel': 'The provider of histories makes ids of its own form.',
  'a cancel counts as done although the request is open':
    'The provider of histories leaves nothing open that it says it has cancelled.',
  'what a header says can silence us for a day': 'The provider of histories names short pauses.',
  'a payment without a capture counts as money': 'The provider of histories shows no payment without its capture.',
  'a fee counts as final although the provider has not settled':
    'Rows of histories have their fee from the beginning, or none.',
  'a fee that is pending, cancelled or reversed counts as final':
    'Rows of histories have their fee from the beginning, or none.',
  'the fee of a refund counts as the payment’s': 'Rows of refunds have no fee in histories.',
  'a fee that is cancelled or reversed counts as final':
    'Rows of histories have their fee from the beginning, or none.',
  "a destination of somebody else's request is shown": 'The provider of histories answers what it was asked.',
  'a destination for another amount is shown': 'The provider of histories answers what it was asked.',
  'only the first window of a slot is looked at':
    'No slot of a history has more due work than one window, but for a crowd that nobody hurries.',
  'a request the provider does not know counts as cancelled': 'The provider of histories knows its requests.',
  'what the release before has told is told again':
    'only in histories of two releases, where an alert of the release before cannot be told from one of this one’s, and telling twice is allowed',
  'what the release before owes joins no alert':
    'only in histories of two releases: this release writes both rows in one transaction',
  "a fee is taken from another payment's transaction":
    "The provider filters by product_id itself; its stand-in never answers with another's row.",
  'a row of another product credits':
    "The provider's rows of captures always have a payment's id; a row without one under a pending payment's own reference is never booked.",
  'what the release before could not look at is skipped':
    "Only where an older release's cursor stands in the table: no history of one release has one.",
  'a refused cursor stays where it is': 'The simulated provider never refuses a cursor: no row of it ever vanishes.',
  "an older release's window is not opened for what fell before it":
    'Only windows that an older release wrote begin with their client.',
  'a payment that is wrong is sealed': 'Books are never wrong in a history: nobody tampers with the table.',
  'a window that does not add up is sealed': 'Windows always add up in a history: nobody tampers with the table.',
  'payouts are put down although a recredit came between':
    'Payouts are counted only for windows that an older release wrote or moved: windows of this one are complete from birth. (watch-ledger would see it where they are counted.)',
  'payouts are put down although one came between':
    'Payouts are counted only for windows that an older release wrote or moved: windows of this one are complete from birth. (watch-ledger would see it where they are counted.)',
  'payouts are put down although the window moved there and back':
    'Payouts are counted only for windows that an older release wrote or moved: windows of this one are complete from birth. (watch-ledger would see it where they are counted.)',
  'payouts are believed although an older release swept or recredited since':
    'Only a window that an older release has moved is not to be believed.',
  'what an older release recredited is still in settlement':
    'Only a window that an older release has moved is not to be believed.',
  'open settlements are believed that do not add up':
    'Only a window that an older release has moved is not to be believed.',
  'what an older release paid out is still in settlement':
    'Only a window that an older release has moved is not to be believed.',
  'payouts are put down although the index does not know them all': 'Only windows of older releases are counted.',
  'a payout is shown without what was credited before it':
    "The figures of a window of this release are current in one read; only one that was paid out by the release before, or between the two reads of one request, wants another look: Porcupine's histories ask that.",
  'a window that lags is never put right': 'Only the release before leaves a window behind.',
  'a key is issued to a client that does not exist': 'Operators of histories name clients that are there.',
  'the newest audit record may be rewritten': 'Nobody tampers with records in a history.',
  'a record may be rewritten that is not the newest': 'Nobody tampers with records in a history.',
  'a duty invokes what is another one’s': 'The local function host, which histories do not run.',
  'a read is answered by one that left before it was asked':
    'joinedReads belongs to the DynamoDB adapter; the simulated table does not join reads',
  'a refused write counts as applied':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'a refusal does not bring back the item as it was':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'an item is read that may be stale':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'items are read that may be stale':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'a range of the table is read that may be stale':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'one condition is enough where all are asked for':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'a bound is not reached':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'what is there already is set again':
    'the DynamoDB adapter stands below the simulated table and never runs; conformance suite and dynamodb-table tests hold it',
  'webhooks go to loopback':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go to the metadata service':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go to private networks':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go to the carrier’s own network':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go to scoped addresses':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go to any IPv6 address':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go to addresses that wrap an IPv4 one':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go out in the clear':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks carry user info':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'webhooks go to literal addresses':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'loopback is allowed when deployed':
    'endpoints of histories are registered by public https URLs alone and resolve to a public address; the unit tests try the others',
  'one public address among special ones is enough':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'a special address is posted to all the same':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'the socket asks for the name again and not for the checked address':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'an endpoint may send without end before its answer':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'a redirect counts as delivered':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'one informational answer too many is read':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'what comes behind an answer is the answer to the next webhook':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'a connection is kept whose request was never taken':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'a webhook goes to an address that it has not checked':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'a connection is used that was closed while nobody looked':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'a frozen process goes on with the connections of before':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'an origin that breaks connections is sent one more':
    'histories send webhooks through a merchant of their own: the HTTPS sender, its address checks and kept connections never run',
  'a page ends where no answer has room for it':
    'Bodies of histories have some hundred bytes: no page comes near the megabytes of an answer.',
  'a proof outlives a clock that was set back': 'Clocks of histories are off; none of them is set back.',
  'the last commit of a time may be three minutes late':
    'Seven seconds: a commit with its last try, the index and two clocks must be at their worst at once.',
  'a tariff is in force before its day': 'Every tariff begins years before the days of histories.',
  "a wallet's earlier payments are priced by its later tariff":
    'Every tariff begins years before the days of histories.',
  'more wait than are kept': 'No window of a history has fifty payments that the provider has not paid us yet.',
  'a gap is passed over in what the provider has paid':
    'A gap is left behind fifty payments that wait, and no window of a history has so many.',
  'a recredit closes only what fits one transaction':
    'No settlement of a history has ninety payments that its client owes.',
  'an open transaction ends by what was said of it before':
    'Its next look would have to be due in the very millisecond in which the lease of whoever looks ends.',
  'an hour whose readings are over is not read again':
    'The provider of histories marks each row that it settles as updated: the head reads it again.',
  'the tariff’s fee is actual at success under every contract':
    'Histories say which contract they have; only where none is said does it make a difference.',
}
