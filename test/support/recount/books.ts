import { readDetails } from '../../../shared/payment/payment-details.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { inflateText } from '../../../shared/table/deflated-text.ts'
import type { ReceivedWebhook } from '../../simulation/world/merchants.ts'

export type RawItem = Readonly<Record<string, unknown>>

export type Seen = {
  readonly webhooks: readonly Omit<ReceivedWebhook, 'atMs'>[]
  readonly secretOfUrl: ReadonlyMap<string, string>
  /** The provider's captures: provider payment id to amount. */
  readonly captured: ReadonlyMap<string, number>
  /** Captures that the provider has voided or reversed: provider payment ids. */
  readonly reversedIds: readonly string[]
  /** The provider's own rows of reversals and won disputes. */
  readonly reversalRowIds: readonly string[]
  /** Every endpoint that ever existed, by client. */
  readonly endpointsOfClient: ReadonlyMap<string, readonly string[]>
  readonly destinationsOfKey: ReadonlyMap<string, ReadonlySet<string>>
  readonly paymentsOfKey: ReadonlyMap<string, ReadonlySet<string>>
  readonly logLines: readonly string[]
  /** Entries of one block of a settlement's digest. */
  readonly digestBlock: number
  /** Texts that no log line may contain: keys, secrets, names, phones, e-mail addresses. */
  readonly confidential: readonly string[]
}

export function booksOf(items: readonly RawItem[]) {
  const bySk = (matches: (sk: string) => boolean) =>
    items.filter((item) => matches(text(item, 'sk')))
  const byPk = (prefix: string) => items.filter(({ pk }) => String(pk).startsWith(prefix))
  const isHouse = ({ pk }: RawItem) => String(pk).startsWith('JOURNAL#house#')
  const payments = bySk((sk) => sk === 'PAYMENT')
  return {
    payments: payments.filter((item) => item['status'] !== 'creating').map(wholeRow),
    creating: payments.filter((item) => item['status'] === 'creating'),
    pointers: byPk('DESTINATION#'),
    references: byPk('REFERENCE#'),
    events: byPk('EVENT#').map(wholeRow),
    // The status is in `status`, which an index lists, or in `state`.
    deliveries: bySk((sk) => sk === 'DELIVERY').map(
      (item): RawItem => ({ ...wholeRow(item), status: item['status'] ?? item['state'] }),
    ),
    attempts: bySk((sk) => sk.startsWith('ATTEMPT#')),
    shards: bySk((sk) => sk.startsWith('SHARD#')),
    windows: bySk((sk) => sk === 'WINDOW'),
    settlements: bySk((sk) => sk === 'SETTLEMENT'),
    batches: bySk((sk) => sk === 'BATCH'),
    suspense: bySk((sk) => sk === 'SUSPENSE'),
    /** Movements of clients' money, with the fields that only an entry's key has. */
    entries: byPk('JOURNAL#').flatMap((item) => (isHouse(item) ? [] : [wholeRow(item)])),
    houseEntries: items.filter(isHouse),
  }
}

/** The provider's payment that a payment's row is credited with. */
export function captureOf(item: RawItem | undefined) {
  return (item?.['capture'] as { readonly providerPaymentId: string } | undefined)
    ?.providerPaymentId
}

export function text(item: RawItem, attribute: string) {
  const value = item[attribute]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/**
 * A payment or an event of one, with the fields that only its keys and index attributes have, and
 * with its deflated texts.
 */
export function whole(item: RawItem) {
  const { pk, sk, id, owner, listed_at: listedAt, body } = item
  const event = { event_id: id, type: sk, client_id: owner, fired_at: listedAt }
  const said =
    sk === 'PAYMENT'
      ? { created_at: listedAt, currency: 'IDR', client_id: owner, ...wholePayment(item) }
      : event
  return {
    payment_id: String(pk).replace(/^(EVENT#payment|PAYMENT)#/, ''),
    ...said,
    ...item,
    ...(body !== undefined && { body: inflateText(body) }),
  }
}

function wholePayment({
  details,
  status,
  paid_at,
  ended_by: source,
  ended_at: at = paid_at,
}: RawItem) {
  const transitions = source === undefined ? [] : [{ status, at, source }]
  return { ...toItem(readDetails(details)), transitions }
}

const shownRows = new WeakMap<RawItem, RawItem>()

/**
 * A row of any kind; a payment, an event, a delivery and an entry with all their fields. The same
 * stored row is the same object each time.
 */
export function wholeRow(item: RawItem): RawItem {
  const known = shownRows.get(item) ?? shown(item)
  shownRows.set(item, known)
  return known
}

function shown(item: RawItem) {
  const { pk, sk } = item
  if (sk === 'DELIVERY') return wholeDelivery(item)
  if (String(pk).startsWith('JOURNAL#')) return wholeEntry(item)
  return 'details' in item || String(pk).startsWith('EVENT#') ? whole(item) : item
}

function wholeEntry(item: RawItem) {
  const [eligibleAt, entryId] = text(item, 'sk').split('#')
  return { ...item, eligible_at: eligibleAt, entry_id: entryId }
}

function wholeDelivery(item: RawItem) {
  const { id, owner, listed_at: createdAt } = item
  const times = { created_at: createdAt, fired_at: createdAt }
  return { delivery_id: id, endpoint_id: owner, ...times, ...item }
}

export function amount(item: RawItem, attribute: string) {
  return Number(item[attribute] ?? 0)
}

export function sum(items: readonly RawItem[], attribute: string) {
  return items.reduce((total, item) => total + amount(item, attribute), 0)
}

export function clientOf(item: RawItem) {
  return text(item, 'pk').replace(/^(LEDGER|JOURNAL)#/, '')
}

/** Succeeded payments that are not posted yet. */
export function isOpen(payment: RawItem) {
  return payment['open_at'] !== undefined
}

export function openNet(payments: readonly RawItem[]) {
  const open = payments.filter(isOpen)
  return sum(open, 'net_minor') - sum(open, 'taken_back_minor')
}

export function differences(
  who: string,
  figures: readonly (readonly [what: string, expected: unknown, found: unknown])[],
) {
  return figures.flatMap(([what, expected, found]) =>
    expected === found ? [] : [`${who}: ${what} is ${String(found)}, must be ${String(expected)}`],
  )
}

export function isRecredit({ type }: RawItem) {
  return type === 'recredit'
}

/** Entries that move money into a client's ledger: a re-credit repeats earlier entries. */
export function movingEntries(entries: readonly RawItem[]) {
  return entries.filter((entry) => !isRecredit(entry))
}

export type Books = Readonly<Record<keyof ReturnType<typeof booksOf>, readonly RawItem[]>>

/** Payments and their events are in their client's lists, and its shards count the payments. */
export function countProblems({ payments, events, shards }: Books) {
  const byClient = Map.groupBy(payments, (payment) => text(payment, 'client_id'))
  const clientById = new Map(
    payments.map((payment) => [payment['payment_id'], text(payment, 'client_id')]),
  )
  const clients = new Set([...byClient.keys(), ...shards.map(clientOf)])
  return [
    ...[...payments, ...events.filter(isOfPayment)].flatMap(({ pk, sk, owner, payment_id: id }) =>
      differences(`${String(pk)} ${String(sk)}`, [
        ['owner', clientById.get(id) ?? 'that of a payment', owner],
      ]),
    ),
    ...[...clients].flatMap((client) => {
      const own = byClient.get(client) ?? []
      const ownShards = shards.filter((shard) => clientOf(shard) === client)
      return differences(
        client,
        ['pending', 'succeeded', 'failed', 'expired', 'cancelled'].map((status) => [
          status,
          own.filter((payment) => payment['status'] === status).length,
          sum(ownShards, `count_${status}`),
        ]),
      )
    }),
  ]
}

function isOfPayment({ pk }: RawItem) {
  return String(pk).startsWith('EVENT#payment#')
}
