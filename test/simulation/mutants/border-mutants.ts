import { mutantsOf } from '../mutation/mutant.ts'

const ADDRESS = 'unit/webhook/safe-address'
const URLS = 'unit/webhook/safe-url'
const WRITE = 'unit/runtime/table-write'
const CONFORMANCE = 'simulation/table-conformance'
const READ = 'unit/runtime/table-read'
const CONTENTION = 'unit/runtime/table-contention'
const SENDER = 'integration/webhook/https-webhook-sender-failures'

/** The table's own habits, the batches Lambda hands over, and where a webhook may go. */
export const BORDER_MUTANTS = [
  ...mutantsOf('shared/runtime/aws/retrying-table.ts', [
    {
      name: 'steps are written again although their times are stale',
      find: 'options !== undefined && means.now() > options.freshUntil',
      replace: 'false',
      tests: ['integration/payment/clock-skew', 'integration/create/thawed-create'],
    },
    {
      name: 'a write that met another transaction is not tried again',
      find: 'if (!contended || tried >= CONFLICT_TRIES) {',
      replace: 'if (tried >= 1) {',
      tests: [WRITE],
    },
    {
      name: 'a conflict is retried for ever',
      find: 'if (!contended || tried >= CONFLICT_TRIES) {',
      replace: 'if (!contended || tried > 100) {',
      tests: [WRITE],
    },
    {
      name: 'keys that are left unprocessed count as missing',
      find: 'pending = pending.filter((key) => unprocessed.has(identity(key)))',
      replace: 'pending = unprocessed.size > 1_000 ? pending : []',
      tests: [READ],
    },
    {
      name: 'keys that are left unprocessed for ever are asked for for ever',
      find: "if (tried === BATCH_TRIES) throw new Error('a batch read stayed incomplete')\n",
      replace: '',
      tests: [READ],
    },
    {
      name: 'a refusal is put down to another step',
      find: 'names[outcome.refusedAt]',
      replace: 'names[0]',
      tests: [WRITE],
    },
  ]),
  ...mutantsOf('shared/runtime/aws/dynamodb-table.ts', [
    {
      name: 'a single write that met a transaction is not tried again',
      find: 'error instanceof TransactionConflictException ||',
      replace: 'false ||',
      tests: [CONTENTION],
    },
    {
      name: 'a throttled transaction is not tried again',
      find: "new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])",
      replace: "new Set(['TransactionConflict'])",
      tests: [CONTENTION],
    },
    {
      name: 'a refused write counts as applied',
      find: 'return { applied: false, item: plainItem(error.Item) }',
      replace: 'return { applied: true, item: plainItem(error.Item) }',
      tests: [WRITE],
    },
    {
      name: 'a refusal does not bring back the item as it was',
      find: "ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const",
      replace: "ReturnValuesOnConditionCheckFailure: 'NONE' as const",
      tests: [WRITE],
    },
    {
      name: 'an item is read that may be stale',
      find: 'Key: key, ConsistentRead: true',
      replace: 'Key: key, ConsistentRead: false',
      tests: [READ],
    },
    {
      name: 'items are read that may be stale',
      find: 'Keys: keys.map((key) => ({ ...key })), ConsistentRead: true',
      replace: 'Keys: keys.map((key) => ({ ...key })), ConsistentRead: false',
      tests: [READ],
    },
    {
      name: 'a range of the table is read that may be stale',
      find: 'ConsistentRead: input.index === undefined,',
      replace: 'ConsistentRead: false,',
      tests: [READ],
    },
  ]),
  ...mutantsOf('shared/runtime/aws/dynamodb-expressions.ts', [
    {
      name: 'one condition is enough where all are asked for',
      find: "all: ' AND '",
      replace: "all: ' OR '",
      tests: [CONFORMANCE],
    },
    {
      name: 'a bound is not reached',
      find: "atMost: '<='",
      replace: "atMost: '<'",
      tests: [CONFORMANCE],
    },
    {
      name: 'what is there already is set again',
      find: 'if_not_exists(${p.name(field)}, ${p.value(value)})',
      replace: '${p.value(value)}',
      tests: [CONFORMANCE],
    },
  ]),
  ...mutantsOf('shared/table/transact-while-fresh.ts', [
    {
      name: 'the times of a transaction are fresh for ever',
      find: '{ freshUntil: addMs(madeAt, FRESH_MS) }',
      replace: '{ freshUntil: addMs(madeAt, FRESH_MS * 1_000_000) }',
      tests: ['integration/payment/clock-skew', 'integration/create/thawed-create'],
    },
  ]),
  ...mutantsOf('shared/table/list.ts', [
    {
      name: 'a list believes its index',
      find: 'item !== undefined && fields.every((field, at) => item[field] === partition[at])',
      replace: 'item !== undefined',
      tests: ['unit/list-items'],
    },
  ]),
  ...mutantsOf('shared/ledger/balance.ts', [
    {
      name: 'what was settled stays pending',
      find: 'less(credited, window?.settledMinor ?? ZERO)',
      replace: 'credited',
      tests: ['functions/api/api-balance'],
    },
  ]),
  ...mutantsOf('shared/ledger/ledger-store.ts', [
    {
      name: 'a payment is counted in its old status too',
      find: '  ...(from !== undefined && { [COUNT_FIELD[from]]: -1 }),\n',
      replace: '',
      tests: ['integration/payment/provider-news'],
    },
    {
      name: 'a credit overwrites the shard',
      find: "add: { ...counts({ ...counted, to: 'succeeded' }), creditedMinor: netMinor },\n    set: { creditedAt: at },",
      replace:
        "add: { ...counts({ ...counted, to: 'succeeded' }) },\n    set: { creditedAt: at, creditedMinor: netMinor },",
      // Two payments of a client meet on one of its 16 shards only now and then.
      histories: true,
    },
  ]),
  ...mutantsOf('shared/runtime/queue-handler.ts', [
    {
      name: 'a message that failed is taken off its queue',
      find: '      batchItemFailures.push({ itemIdentifier: messageId })\n',
      replace: '',
      tests: ['integration/webhook/deliver-webhook-messages'],
    },
    {
      name: 'one bad message fails its whole batch',
      find: "if (result?.status !== 'rejected') continue\n",
      replace: "if (results.every(({ status }) => status !== 'rejected')) continue\n",
      tests: ['integration/webhook/deliver-webhook-messages'],
    },
  ]),
  ...mutantsOf('shared/runtime/stream-handler.ts', [
    {
      name: 'a batch of the stream is handed back from its first record',
      find: "return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] }",
      replace: "return { batchItemFailures: [{ itemIdentifier: records[0]?.dynamodb?.SequenceNumber ?? '' }] }",
      tests: ['integration/webhook/fan-out-event'],
    },
    {
      name: 'a record of the stream that failed is lost',
      find: "return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] }",
      replace: 'continue',
      tests: ['integration/webhook/fan-out-event'],
    },
  ]),
  ...mutantsOf('shared/webhook/endpoint/safe-address.ts', [
    { name: 'webhooks go to loopback', find: "  ['127.0.0.0', 8], // loopback\n", replace: '', tests: [ADDRESS] },
    {
      name: 'webhooks go to the metadata service',
      find: "  ['169.254.0.0', 16],",
      replace: "  ['169.253.0.0', 16],",
      tests: [ADDRESS],
    },
    {
      name: 'webhooks go to private networks',
      find: "  ['172.16.0.0', 12],",
      replace: "  ['172.16.0.0', 13],",
      tests: [ADDRESS],
    },
    {
      name: 'webhooks go to the carrier’s own network',
      find: "  ['100.64.0.0', 10],",
      replace: "  ['100.64.0.0', 11],",
      tests: [ADDRESS],
    },
    {
      name: 'webhooks go to scoped addresses',
      find: "  if (address.includes('%')) return false\n",
      replace: '',
      tests: [ADDRESS],
    },
    {
      name: 'webhooks go to any IPv6 address',
      find: "publicIpv6.check(address, 'ipv6') && ",
      replace: '',
      tests: [ADDRESS],
    },
    {
      name: 'webhooks go to addresses that wrap an IPv4 one',
      find: " && !specialIpv6.check(address, 'ipv6')",
      replace: '',
      tests: [ADDRESS],
    },
  ]),
  ...mutantsOf('shared/webhook/endpoint/safe-url.ts', [
    {
      name: 'webhooks go out in the clear',
      find: "url.protocol !== 'https:' && !(loopback",
      replace: "url.protocol === 'ftp:' && !(loopback",
      tests: [URLS],
    },
    {
      name: 'webhooks carry user info',
      find: "if (url.username !== '' || url.password !== '') return",
      replace: "if (url.username === '*') return",
      tests: [URLS],
    },
    {
      name: 'webhooks go to literal addresses',
      find: "  if (isIP(url.hostname.replace(/^\\[|\\]$/g, '')) !== 0) return refused('must name a host, not an address')\n",
      replace: '',
      tests: [URLS],
    },
    {
      name: 'one public address among special ones is enough',
      find: 'if (!addresses.every(({ address }) => isPublicAddress(address)))',
      replace: 'if (!addresses.some(({ address }) => isPublicAddress(address)))',
      tests: [URLS],
    },
    {
      name: 'loopback is allowed when deployed',
      find: 'const loopback = rules.allowLoopback && LOOPBACK_HOSTS',
      replace: 'const loopback = LOOPBACK_HOSTS',
      tests: [URLS],
    },
  ]),
  ...mutantsOf('shared/webhook/send/https-webhook-sender.ts', [
    {
      name: 'the socket asks for the name again and not for the checked address',
      find: 'lookup: checkedLookup(addresses.slice(0, CONNECT_TRIES)), ',
      replace: '',
      tests: [SENDER],
    },
    {
      name: 'a special address is posted to all the same',
      find: "    case 'refused':\n      return failed('address_refused')\n",
      replace: "    case 'refused':\n      return failed('dns')\n",
      tests: [SENDER],
    },
    {
      name: 'a redirect counts as delivered',
      find: 'status >= 200 && status <= 299',
      replace: 'status >= 200 && status <= 399',
      tests: ['integration/webhook/https-webhook-sender'],
    },
    {
      name: 'an endpoint may send without end before its answer',
      find: 'maxBytes: READ_BYTES }',
      replace: 'maxBytes: Number.MAX_SAFE_INTEGER }',
      tests: ['integration/webhook/webhook-floods'],
    },
    {
      name: 'one informational answer too many is read',
      find: '++informational > MAX_INFORMATIONAL',
      replace: 'informational++ > MAX_INFORMATIONAL',
      tests: ['integration/webhook/webhook-floods'],
    },
  ]),
]
