/**
 * A recount of the journal from raw items: what each entry, shard, window and settlement must add
 * up to.
 */
import { createHash } from 'node:crypto'
import {
  amount,
  type Books,
  clientOf,
  differences,
  isRecredit,
  movingEntries,
  openNet,
  type RawItem,
  sum,
  text,
} from './books.ts'

export function sweptBy(settlement: RawItem, entries: readonly RawItem[]) {
  const { swept_from: from, swept_until: until } = settlement
  return entries
    .filter(({ eligible_at: at }) => String(at) >= String(from) && String(at) < String(until))
    .toSorted((a, b) => (text(a, 'sk') < text(b, 'sk') ? -1 : 1))
}

/** Both equations of every entry; none may be settled before it was written. */
export function entryProblems({ entries, houseEntries }: Books) {
  return [
    ...entries,
    // The fee that the provider's row shows is no fee of a client.
    ...houseEntries.map((entry) => ({ ...entry, eligible_at: entry['posted_at'], fee_minor: 0 })),
  ].flatMap((entry) => {
    const of = (name: string) => amount(entry, name)
    return [
      ...differences(`entry ${text(entry, 'sk')}`, [
        ['net', of('gross_minor') - of('fee_minor') - of('markup_minor'), of('net_minor')],
        [
          'sides',
          of('provider_minor') + of('bank_minor') + of('transit_minor'),
          of('net_minor') +
            of('suspense_minor') +
            of('markup_minor') +
            of('cost_minor') +
            of('other_minor'),
        ],
      ]),
      ...(text(entry, 'eligible_at') < text(entry, 'posted_at')
        ? [`${text(entry, 'sk')} is eligible too early`]
        : []),
    ]
  })
}

export function ledgerProblems(books: Books, block: number) {
  return booksOfClients(books).flatMap((own) => [
    ...windowProblems(own),
    ...spanProblems(own),
    ...settlementProblems(own, block),
    ...recreditProblems(own),
  ])
}

function booksOfClients({ windows, shards, payments, entries, settlements }: Books) {
  return windows.map((window) => {
    const client = clientOf(window)
    const isOwn = (item: RawItem) => clientOf(item) === client
    const isOf = (item: RawItem) => item['client_id'] === client
    const inTime = (a: RawItem, b: RawItem) =>
      text(a, 'swept_from') < text(b, 'swept_from') ? -1 : 1
    return {
      window,
      shards: shards.filter(isOwn),
      payments: payments.filter(isOf),
      entries: entries.filter(isOwn),
      settlements: settlements.filter(isOf).toSorted(inTime),
    }
  })
}

type OwnBooks = ReturnType<typeof booksOfClients>[number]

/**
 * Compares the window with its settlements and entries, and the pending balance with the entries
 * that are not swept.
 */
function windowProblems({ window, shards, payments, entries, settlements }: OwnBooks) {
  const unswept = entries.filter(
    (entry) => text(entry, 'eligible_at') >= text(window, 'settled_until'),
  )
  const taken = ['available_minor', 'in_settlement_minor', 'paid_out_minor']
  const credited = sum(shards, 'credited_minor')
  const pending = credited - taken.reduce((total, name) => total + amount(window, name), 0)
  const writtenOff = entries.filter(({ type }) => type === 'written_off')
  return differences(clientOf(window), [
    ['credited', sum(movingEntries(entries), 'net_minor') + openNet(payments), credited],
    ['pending', sum(movingEntries(unswept), 'net_minor') + openNet(payments), pending],
    ['available', sum(carriedBy(unswept), 'net_minor'), amount(window, 'available_minor')],
    [
      'in settlement',
      sum(settlements.filter(isInSettlement), 'net_minor'),
      amount(window, 'in_settlement_minor'),
    ],
    ['paid out', sum(settlements.filter(isPaidOut), 'net_minor'), amount(window, 'paid_out_minor')],
    ['written off', sum(writtenOff, 'net_minor'), amount(window, 'written_off_minor')],
    // The house never takes a write-off back twice.
    ['less than nothing written off', false, amount(window, 'written_off_minor') < 0],
    [
      'settled until',
      settlements.at(-1)?.['swept_until'] ?? window['settled_until'],
      window['settled_until'],
    ],
    ['last settlement', settlements.at(-1)?.['settlement_id'], window['last_settlement_id']],
  ])
}

function isPaidOut({ status }: RawItem) {
  return status === 'manual_paid'
}

function isInSettlement(settlement: RawItem) {
  return !isPaidOut(settlement) && settlement['recredited_at'] === undefined
}

/**
 * Windows have no gap, so each entry is in at most one settlement. No new entry may come into a
 * closed window.
 */
function spanProblems({ window, shards, settlements }: OwnBooks) {
  return [
    ...settlements.flatMap((settlement, at) => {
      const before = settlements[at - 1]
      if (before === undefined) return []
      return differences(`settlement ${text(settlement, 'settlement_id')}`, [
        ['start', before['swept_until'], settlement['swept_from']],
        ['settlement before', before['settlement_id'], settlement['previous_id']],
      ])
    }),
    ...[window, ...shards]
      .filter((item) => text(item, 'closed_until') < text(window, 'settled_until'))
      .map((item) => `${text(item, 'pk')} ${text(item, 'sk')} lets entries into a swept window`),
  ]
}

/** `block`: entries of one block of a digest. */
function settlementProblems({ settlements, entries }: OwnBooks, block: number) {
  return settlements.flatMap((settlement) => {
    const own = sweptBy(settlement, entries)
    const summed = [...own, ...carriedBy(own)]
    return differences(`settlement ${text(settlement, 'settlement_id')}`, [
      ['gross', sum(summed, 'gross_minor'), settlement['gross_minor']],
      ['provider fees', sum(summed, 'fee_minor'), settlement['fee_minor']],
      ['markup', sum(summed, 'markup_minor'), settlement['markup_minor']],
      ['net', sum(summed, 'net_minor'), settlement['net_minor']],
      [
        'number of payments',
        own.reduce((count, entry) => count + paymentsIn(entry), 0),
        settlement['payment_count'],
      ],
      ['number of entries', own.length, settlement['entry_count']],
      ['re-credited', sum(carriedBy(own), 'net_minor'), settlement['recredited_minor']],
      ['unproven', unprovenIn(settlement, own), settlement['unproven_minor']],
      ['digest', digestOf(text(settlement, 'settlement_id'), own, block), settlement['digest']],
    ])
  })
}

/** What re-credits carry: figures that count in sums of settlements alone. */
function carriedBy(entries: readonly RawItem[]) {
  return entries.flatMap((entry) => {
    const carried = entry['carried'] as Readonly<Record<string, number>> | undefined
    if (!isRecredit(entry) || carried === undefined) return []
    const spelled = Object.entries(carried).map(([name, value]) => [inSnakeCase(name), value])
    return [Object.fromEntries(spelled) as RawItem]
  })
}

function inSnakeCase(name: string) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function paymentsIn(entry: RawItem) {
  return entry['type'] === 'payment' ? 1 : sum(carriedBy([entry]), 'payment_count')
}

/** The positive amounts of a settlement that no settled row of the provider proves. */
function unprovenIn(settlement: RawItem, entries: readonly RawItem[]) {
  return entries.reduce((total, entry) => {
    const { type, provider_transaction_id: row } = entry
    const isProven = row !== undefined && amount(entry, 'other_minor') === 0
    if (type === 'payment' && !isProven) return total + Math.max(0, amount(entry, 'net_minor'))
    if (isRecredit(entry)) return total + sum(carriedBy([entry]), 'unproven_minor')
    const isOfWindow = text(entry, 'proven_eligible_at') >= text(settlement, 'swept_from')
    return type === 'late_row' && isOfWindow
      ? total - Math.max(0, amount(entry, 'proven_minor'))
      : total
  }, 0)
}

/** The first block follows the settlement's id. */
function digestOf(id: string, entries: readonly RawItem[], block: number) {
  let digest = id
  for (let at = 0; at < entries.length; at += block) {
    const hash = createHash('sha256').update(digest)
    for (const entry of entries.slice(at, at + block)) hash.update(`\n${entryText(entry)}`)
    digest = hash.digest('hex')
  }
  return digest
}

/** The text of an entry for its settlement's digest: each field with a value, by name. */
function entryText(entry: RawItem) {
  const sides = [
    'gross',
    'fee',
    'markup',
    'net',
    'provider',
    'bank',
    'transit',
    'suspense',
    'cost',
    'other',
  ]
  const spelled = Object.entries({
    ...Object.fromEntries(sides.map((side) => [`${side}_minor`, 0])),
    ...entry,
  })
    .filter(([name, value]) => !['pk', 'sk'].includes(name) && value !== undefined)
    .map(([name, value]) => {
      const own = name === 'carried' ? textByName(Object.entries(Object(value))) : value
      return [name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()), own] as const
    })
  return textByName(spelled)
}

function textByName(fields: readonly (readonly [string, unknown])[]) {
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** A re-credited settlement has one entry with its figures, and no other settlement has one. */
function recreditProblems({ settlements, entries }: OwnBooks) {
  const bySettlement = Map.groupBy(entries, (entry) => entry['recredited_settlement_id'])
  const ids = new Set([undefined, ...settlements.map(({ settlement_id: id }) => id)])
  const strays = [...bySettlement.keys()].filter((id) => !ids.has(id))
  return [
    ...strays.map((id) => `an entry re-credits settlement ${String(id)}, which is not there`),
    ...settlements.flatMap((settlement) => {
      const { settlement_id: id, recredited_at: at } = settlement
      const own = bySettlement.get(id) ?? []
      return differences(`re-credit of ${String(id)}`, [
        ['number', at === undefined ? 0 : 1, own.length],
        ...own.flatMap(
          (entry) =>
            [
              ['state', 'failed', settlement['status']],
              ['time', at, entry['eligible_at']],
              ['own net', 0, amount(entry, 'net_minor')],
              ['net', settlement['net_minor'], sum(carriedBy([entry]), 'net_minor')],
              ['gross', settlement['gross_minor'], sum(carriedBy([entry]), 'gross_minor')],
              ['payments', settlement['payment_count'], paymentsIn(entry)],
            ] as const,
        ),
      ])
    }),
  ]
}
