import { mutantsOf } from '../mutation/mutant.ts'

/** The table's own habits, the batches Lambda hands over, and where a webhook may go. */
export const BORDER_MUTANTS = [
  ...mutantsOf('retryingTable', ['clock-skew', 'thawed-create'], {
    'steps are written again although their times are stale': 'isStale: _ -> isStale: () => false',
    'a refusal is put down to another step': { edit: 'outcome.refusedAt -> 0', tests: ['dynamodb-table'] },
  }),
  ...mutantsOf('retryingContention', ['dynamodb-table'], {
    'a write that met another transaction is not tried again': '!contended || tried >= CONFLICT_TRIES -> tried >= 1',
    'a conflict is retried for ever': 'tried >= CONFLICT_TRIES -> tried > 100',
  }),
  ...mutantsOf('readBatch', ['dynamodb-table'], {
    'keys that are left unprocessed count as missing': 'pending.filter(_) -> unprocessed.size > 1_000 ? pending : []',
    'keys that are left unprocessed for ever are asked for for ever': 'drop tried === BATCH_TRIES',
  }),
  ...mutantsOf('joinedReads', ['dynamodb-table'], {
    'a read is answered by one that left before it was asked':
      'drop if (open.get(reads) === joined) open.delete(reads)',
  }),
  ...mutantsOf('findEventBody', ['lean-deliveries'], {
    'a body that could not be read once cannot be read again': 'reading.then(..._) -> undefined',
  }),
  ...mutantsOf('isContention', ['dynamodb-table'], {
    'a single write that met a transaction is not tried again':
      'error instanceof TransactionConflictException -> false',
  }),
  ...mutantsOf('RETRYABLE_REASONS', ['dynamodb-table'], {
    'a throttled transaction is not tried again': "new Set(_) -> new Set(['TransactionConflict'])",
  }),
  ...mutantsOf('dynamodb-table/write', ['dynamodb-table'], {
    'a refused write counts as applied': 'applied: false -> applied: true',
  }),
  ...mutantsOf('toTransactItem', ['table-conformance'], {
    'a refusal does not bring back the item as it was': "'ALL_OLD' -> 'NONE'",
  }),
  ...mutantsOf('getItem', ['dynamodb-table'], {
    'an item is read that may be stale': 'some?.consistent ?? true -> some?.consistent ?? false',
  }),
  ...mutantsOf('batchGet', ['dynamodb-table'], {
    'items are read that may be stale': "ConsistentRead: reads === 'consistent' -> ConsistentRead: false",
  }),
  ...mutantsOf('dynamodb-table/query', ['dynamodb-table'], {
    'a range of the table is read that may be stale': 'input.index === undefined -> false',
  }),
  ...mutantsOf('dynamodb-expressions/WORDS', ['table-conformance'], {
    'one condition is enough where all are asked for': "all: ' AND ' -> all: ' OR '",
  }),
  ...mutantsOf('OPERATORS', ['table-conformance'], { 'a bound is not reached': "atMost: '<=' -> atMost: '<'" }),
  ...mutantsOf('updateExpression', ['table-conformance'], {
    'what is there already is set again':
      '`${p.name(field)} = if_not_exists(${_}, ${_})` -> `${p.name(field)} = ${p.value(value)}`',
  }),
  ...mutantsOf('transactWhileFresh', ['clock-skew', 'thawed-create'], {
    'the times of a transaction are fresh for ever': 'FRESH_MS -> FRESH_MS * 1_000_000',
  }),
  ...mutantsOf('listItems', ['list-items'], { 'a list believes its index': 'drop fields.every(_)' }),
  ...mutantsOf('balanceOf', ['settlement-balance'], { 'what was settled stays pending': 'less(..._) -> credited' }),
  ...mutantsOf('counts', ['provider-news'], {
    'a payment is counted in its old status too': 'drop ...(from !== undefined && { [COUNT_FIELD[from]]: -1 })',
  }),
  ...mutantsOf('credit', [], {
    'a credit overwrites the shard': {
      edit: "{ add: _, set: _ } -> { add: { ...counts({ ...counted, to: 'succeeded' }) }, set: { creditedAt: at, creditedMinor: netMinor } }",
      histories: true,
    },
  }),
  ...mutantsOf('queueHandler', ['deliver-webhook-messages'], {
    'a message that failed is taken off its queue': 'drop batchItemFailures.push(_)',
    'one bad message fails its whole batch':
      "result?.status !== 'rejected' -> results.every(({ status }) => status !== 'rejected')",
  }),
  ...mutantsOf('streamHandler', ['fan-out-event'], {
    'a batch of the stream is handed back from its first record':
      "dynamodb?.SequenceNumber ?? '' -> records[0]?.dynamodb?.SequenceNumber ?? ''",
    'a record of the stream that failed is lost':
      "return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] } -> continue",
  }),
  ...mutantsOf('SPECIAL_IPV4', ['safe-address'], {
    'webhooks go to loopback': "drop ['127.0.0.0', 8]",
    'webhooks go to the metadata service': "['169.254.0.0', 16] -> ['169.253.0.0', 16]",
    'webhooks go to private networks': "['172.16.0.0', 12] -> ['172.16.0.0', 13]",
    'webhooks go to the carrier’s own network': "['100.64.0.0', 10] -> ['100.64.0.0', 11]",
  }),
  ...mutantsOf('isPublicAddress', ['safe-address'], {
    'webhooks go to scoped addresses': "drop address.includes('%')",
    'webhooks go to any IPv6 address': "drop publicIpv6.check(address, 'ipv6')",
    'webhooks go to addresses that wrap an IPv4 one': "drop !specialIpv6.check(address, 'ipv6')",
  }),
  ...mutantsOf('inspectUrl', ['safe-url'], {
    'webhooks go out in the clear': "url.protocol !== 'https:' -> url.protocol === 'ftp:'",
    'webhooks carry user info': "url.username !== '' || url.password !== '' -> url.username === '*'",
    'webhooks go to literal addresses': 'drop isIP(_) !== 0',
    'loopback is allowed when deployed': 'drop rules.allowLoopback',
  }),
  ...mutantsOf('inspectAddresses', ['safe-url'], {
    'one public address among special ones is enough': 'addresses.every(_) -> addresses.some(_)',
    'a special address is posted to all the same': {
      edit: "kind: 'refused' -> kind: 'unresolved'",
      tests: ['https-webhook-sender'],
    },
  }),
  ...mutantsOf('https-webhook-sender/post', ['https-webhook-sender'], {
    'the socket asks for the name again and not for the checked address': 'drop lookup: _',
    'an endpoint may send without end before its answer': {
      edit: 'maxBytes: READ_BYTES -> maxBytes: Number.MAX_SAFE_INTEGER',
      tests: ['webhook-floods'],
    },
  }),
  ...mutantsOf('outcomeOf', ['https-webhook-sender'], {
    'a redirect counts as delivered': 'status <= 299 -> status <= 399',
  }),
  ...mutantsOf('postOver', ['kept-connections'], {
    'one informational answer too many is read': {
      edit: '++answer.informational -> answer.informational++',
      tests: ['webhook-floods'],
    },
    'what comes behind an answer is the answer to the next webhook': 'drop arrived.are(response)',
    'a connection is kept whose request was never taken': 'drop outgoing.writableFinished',
  }),
  ...mutantsOf('keptConnections', ['kept-connections'], {
    'a webhook goes to an address that it has not checked': 'address === kept.address -> address !== undefined',
    'a connection is used that was closed while nobody looked': 'drop if (fresh) await round()',
    'a frozen process goes on with the connections of before': 'drop Math.abs(_) <= IDLE_MS',
    'an origin that breaks connections is sent one more': '(distrusted.get(origin) ?? 0) <= monotonicMs() -> true',
  }),
]
