/** Mutants that change nothing a test could see: their ids, by the reason. */
const UNSEEN = {
  'Only the cost differs.': [
    'shared/audit/judged/derive-payment.ts judgeOwners: condition dropped a4ec504f',
    'shared/recount/find-differences.ts findDifferences: condition dropped c4a83eee',
    'shared/client/api-key-store.ts noteKeyUse: comparison moved 5568343d',
    'shared/client/enforce-rate-limit.ts addDebt: comparison moved 33f2678b',
    'shared/ledger/fence-store.ts raiseFence: comparison moved c084ba43',
    'shared/payment/create/create-payment.ts readBeforeLimits: operand dropped 401aef7a',
    'shared/posting/move-payment.ts planMove: comparison moved 9c803bad',
    'shared/sync/job-store.ts DONE_JOB_KEPT_MS: bound moved c466695c',
    'shared/suspense/alert-message.ts alertMessage: condition true ba33ebf0',
    'shared/sync/read-slice.ts lookupsOf: comparison moved d7544d5c',
    'shared/table/attributes.ts withCache: write dropped 348a37ef',
    'shared/webhook/delivery/delivery-store.ts attemptsOf: comparison moved 5317629f',
    'shared/webhook/delivery/list-deliveries.ts LISTED_WITHIN_MS: bound moved a84a66a1',
    'shared/webhook/delivery/list-deliveries.ts listedKeys: condition false 03e6d4aa',
    'shared/webhook/delivery/list-deliveries.ts keysOfPage: choice reversed 7e1a3418',
  ],
  'A payment may show, or not, what is held in its first minutes.': [
    'shared/recount/plan-shown.ts withShown: comparison moved 9b8339bf',
  ],
  'Which side stands first decides nothing of a comparison for equality.': [
    'shared/audit/rows/row-differences.ts namesThatDiffer: field swapped e58c4b77',
  ],
  'The second look has no such race: two settlements are minutes apart.': [
    'shared/audit/judged/audit-figures.ts sumUnsettled: field swapped de00ab75',
  ],
  'A ledger has 17 rows, so the bound has room.': [
    'shared/ledger/ledger-store.ts MOST_ROWS: bound moved c3f038bb',
  ],
  'Both sides are equal at the border.': [
    'shared/inquiry/read-event-feed.ts readEventFeed: comparison moved 401afd42',
    'shared/channel/channel-timing.ts usualCheckAt: comparison moved 7d5106d8',
    'shared/audit/judged/audit-events.ts compareEvent: comparison moved 3186e1ba',
    'shared/time.ts earlier: comparison moved 44f07840',
    'shared/time.ts later: comparison moved 368e98dd',
  ],
  'The code before it has decided this already; only the type needs it.': [
    'shared/money.ts AdjustedMinorSchema: condition dropped e1f9db2d',
    'shared/posting/adjust-ledger.ts assertWithinBounds: comparison moved 0bb6b54a',
    'shared/payout/count-findings.ts mayBeIn: condition false 9b98ebf5',
    'shared/posting/assume-fee.ts postOverduePayment: operand dropped cd046481',
    'shared/recount/plan-figures.ts planFigures: operand dropped 8c6f335f',
    'shared/recount/plan-figures.ts chainOf: operand dropped ed5a1c32',
    'shared/table/used-units.ts noteUnits: condition true 2f0f7a3a',
    'shared/provider/quota-store.ts pausedUntil: condition false 06282c6a',
  ],
  'How much one run takes on, or one call reads, changes what it costs, and no answer that is complete.':
    ['shared/inquiry/search-payments.ts MAX_AT_DESTINATION: bound moved 8d65b13a'],
  'A run stops at the end of a page, so one answer has a page more and the next one a page less.': [
    'shared/books/get-books.ts MAX_CLIENTS: bound moved 40d960fb',
    'shared/books/get-books.ts booksOfAll: comparison moved b130e1be',
  ],
  "The runtime's own timer counts it, and a millisecond is within its accuracy.": [
    'shared/runtime/http-handler.ts TIMEOUT_EARLY_MS: bound moved 9c8a04fd',
    'shared/webhook/send/https-webhook-sender.ts CONNECT_TRY_MS: bound moved 73aed49d',
    'shared/webhook/send/https-webhook-sender.ts QUERY_TIMEOUT_MS: bound moved ca25f99f',
  ],
  'An older kept sum is whole in itself, so it only costs time.': [
    'shared/settlement/settlement-store.ts keepProgress: change dropped 2aff562b',
    'shared/settlement/settlement-store.ts keepProgress: sum changed 1339b459',
  ],
  'A longer span only reads more; what it adds is read within thirty days anyway.': [
    'shared/audit/gateway-parts.ts BOOKED_WITHIN_DAYS: bound moved 37a61c3c',
    'shared/audit/judged/audit-trails.ts LATELY_MS: bound moved 7ecc7f03',
  ],
  'The sync books no row that is older than 180 days, so a bound beyond that has room.': [
    'shared/audit/judged/audit-journal.ts OLDEST_ROW_DAYS: bound moved 66597b10',
  ],
  'The two sides of a difference are never equal.': [
    'shared/recount/plan-figures.ts planFigures: comparison moved 830303ee',
  ],
  'No event that the gateway has written breaks this invariant.': [
    'shared/inquiry/erase-store.ts eraseFromEvent: operand dropped 317eb940',
  ],
  'It is one constant key of a kind of its own, so any other name would do as well.': [
    'shared/table/keys.ts pausesKey: key widened 3d912eb9',
  ],
  'A stored zero is read as an absent side is; only the size of the item differs.': [
    'shared/journal/entry-store.ts entryRow: condition dropped d6b72185',
  ],
  'An invariant that no stored state breaks: without it the next line fails as well.': [
    'shared/payment/news/cancel-payment.ts answerOvertakenCancel: write dropped 99638ba7',
    'shared/payment/create/run-attempt.ts tryCommit: write dropped 14d0e70b',
  ],
  'The condition of the take-over decides the same again.': [
    'shared/payment/create/hold-back-push.ts verdictOn: operand dropped 560df6f3',
  ],
  'Work of this kind has one slot, so the id that chooses the slot changes nothing.': [
    'shared/webhook/send/attempt-store.ts changesAfter: field swapped fe15088e',
  ],
  "Time and id are an event's place in the index, so the rest of the position's key decides nothing.":
    ['shared/event/read-events.ts eventPositionPages: key widened 4c7e7b77'],
}

export const EXCEPTIONS: ReadonlySet<string> = new Set(Object.values(UNSEEN).flat())
