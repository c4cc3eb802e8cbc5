/**
 * What must be true of the whole gateway, checked on the table's raw items and on what the outside
 * world has seen, by arithmetic that shares nothing with the gateway's own.
 */

import { comparable, rowDifferences } from '../../../shared/audit/rows/row-differences.ts'
import { attributeName, fromItem } from '../../../shared/table/attributes.ts'
import { NOT_AUDITED, roleOf } from '../../single-changes/registry.ts'
import {
  type Books,
  booksOf,
  captureOf,
  countProblems,
  type RawItem,
  type Seen,
  text,
} from './books.ts'
import { deliveryProblems, eventProblems } from './delivery-books.ts'
import { entryProblems, ledgerProblems } from './journal-books.ts'
import { paymentEntryProblems } from './payment-books.ts'
import { batchProblems, settlementEventProblems } from './payout-books.ts'
import { kindOf, remadeRow } from './remade-rows.ts'

/**
 * What must hold of clients' money whenever nothing is half done between two writes (design
 * sections 8 and 12). `block`: entries of one block of a settlement's digest.
 */
export function moneyProblemsOf(items: readonly RawItem[], block = 1_000) {
  const books = booksOf(items)
  return [
    ...entryProblems(books),
    ...ledgerProblems(books, block),
    ...paymentEntryProblems(books),
    ...countProblems(books),
    ...batchProblems(books),
    ...rowProblems(items),
  ]
}

/**
 * What must hold whenever nothing is half done between two writes: after every step of a history.
 */
export function problemsOf(items: readonly RawItem[], seen: Seen) {
  const books = booksOf(items)
  return [
    ...moneyProblemsOf(items, seen.digestBlock),
    ...paymentsThat(
      'expired before it was created',
      books,
      (item) =>
        item['expires_at'] !== undefined && text(item, 'expires_at') <= text(item, 'created_at'),
    ),
    ...deliveryProblems(books, seen),
    // No event announces a cancel: only where the merchant asked for it, before the expiry.
    ...paymentsThat(
      "was cancelled without its client's request",
      books,
      ({ status, cancel_requested_at: asked, expiry_started_at: expired }) =>
        status === 'cancelled' && (asked === undefined || expired !== undefined),
    ),
    ...pointerProblems(books),
    ...[...seen.destinationsOfKey].flatMap(([key, { size }]) =>
      size > 1 ? [`${key} was shown two destinations`] : [],
    ),
    ...[...seen.paymentsOfKey].flatMap(([key, { size }]) =>
      size > 1 ? [`${key} became two payments`] : [],
    ),
    ...logProblems(seen),
  ]
}

function paymentsThat(
  problem: string,
  { payments }: Books,
  isWrong: (payment: RawItem) => boolean,
) {
  return payments.filter(isWrong).map((item) => `payment ${text(item, 'payment_id')} ${problem}`)
}

/**
 * An operator finds every payment by its destination, and a merchant finds its own payments by
 * their references.
 */
function pointerProblems({ payments, pointers, references }: Books) {
  const places = new Set(
    payments.map((item) => `${text(item, 'created_at')}#${text(item, 'payment_id')}`),
  )
  const right = pointers.filter((item) => places.has(text(item, 'sk')))
  return [
    ...ledProblems(payments, right, 'destination', (item) => item['method'] === 'virtual_account'),
    ...ledProblems(
      payments,
      references,
      'reference',
      (item) => text(item, 'external_reference') !== '',
    ),
  ]
}

/**
 * Exactly the payments that must be found have a pointer. A pointer to no payment is from a create
 * that did not commit, and readers ignore it.
 */
function ledProblems(
  payments: readonly RawItem[],
  pointers: readonly RawItem[],
  name: string,
  isFound: (payment: RawItem) => boolean,
) {
  const pointed = new Set(pointers.map((item) => text(item, 'payment_id')))
  return payments.flatMap((payment) => {
    const id = text(payment, 'payment_id')
    if (isFound(payment) === pointed.has(id)) return []
    return [`${isFound(payment) ? 'no' : 'a'} ${name} leads to payment ${id}`]
  })
}

/** How many lines of a list were checked for each secret. Lines never change. */
const readLines = new WeakMap<readonly string[], Map<string, number>>()

function logProblems({ logLines, confidential }: Seen) {
  const read = readLines.get(logLines) ?? new Map<string, number>()
  readLines.set(logLines, read)
  return confidential.flatMap((secret) => {
    const line = logLines.find(
      (candidate, at) => at >= (read.get(secret) ?? 0) && candidate.includes(secret),
    )
    if (line === undefined) read.set(secret, logLines.length)
    return line === undefined ? [] : [`a log line holds something confidential: ${line}`]
  })
}

/** The invariants that also hold when no work is due or in flight. */
export function problemsAtRest(items: readonly RawItem[], seen: Seen) {
  const books = booksOf(items)
  const notTerminal = (
    kind: string,
    found: readonly RawItem[],
    id: string,
    resting: readonly string[],
  ) =>
    found
      .filter((item) => !resting.includes(text(item, 'status')))
      .map((item) => `${kind} ${text(item, id)} does not rest: ${text(item, 'status')}`)
  return [
    ...problemsOf(items, seen),
    ...registerProblems(items),
    ...moneyProblems(books, seen),
    ...paymentsThat(
      'does not show that its money went back',
      books,
      (item) => seen.reversedIds.includes(captureOf(item) ?? '') && item['reversal'] === undefined,
    ),
    ...bookedBackProblems(books, seen),
    ...eventProblems(books, seen),
    ...settlementEventProblems(books),
    ...notTerminal('payment', books.payments, 'payment_id', [
      'succeeded',
      'failed',
      'expired',
      'cancelled',
    ]),
    ...notTerminal('delivery', books.deliveries, 'delivery_id', [
      'succeeded',
      'abandoned',
      'skipped',
    ]),
    ...dueOf(books.suspense.filter((item) => !isReminded(item))).map(
      (item) => `operators were not told of ${text(item, 'suspense_id')}`,
    ),
    ...dueOf(books.creating).map(
      (item) => `payment ${text(item, 'payment_id')} is created for ever`,
    ),
  ]
}

/** An open dispute was told, and is told again after half its time or at its end. */
function isReminded(item: RawItem) {
  const againMs = Date.parse(text(item, 'due_at')) - Date.parse(text(item, 'created_at'))
  return item['kind'] === 'case' && item['status'] === 'open' && againMs > 86_400_000
}

function moneyProblems({ payments, suspense }: Books, { captured, reversedIds }: Seen) {
  const credited = new Map(
    payments.flatMap((item) => {
      const capture = captureOf(item)
      return capture === undefined ? [] : [[capture, item]]
    }),
  )
  const held = new Set(
    suspense.filter(({ kind }) => kind === 'money').map((item) => text(item, 'suspense_id')),
  )
  const inSuspense = new Set(suspense.map((item) => text(item, 'provider_payment_id')))
  return [...captured].flatMap(([providerPaymentId, received]) => {
    const payment = credited.get(providerPaymentId)
    if (payment && held.has(providerPaymentId)) return [`${providerPaymentId} is credited and held`]
    // Money that came and went back before the gateway read it is a finding.
    const hasReturned = reversedIds.includes(providerPaymentId) && inSuspense.has(providerPaymentId)
    if (!payment && !held.has(providerPaymentId) && !hasReturned)
      return [`${providerPaymentId}: ${received} IDR are neither credited nor held`]
    return []
  })
}

/**
 * Each reversal or return of the provider counts on a payment, reduces money in suspense, or raises
 * an alert.
 */
function bookedBackProblems({ payments, suspense, houseEntries }: Books, { reversalRowIds }: Seen) {
  const moved = payments.flatMap((item) =>
    ((item['movements'] ?? []) as readonly RawItem[]).map((movement) =>
      text(movement, 'transactionId'),
    ),
  )
  const held = houseEntries.filter(({ sk }) => String(sk).endsWith('#suspense_refunded'))
  const counted = new Set([...moved, ...held.map((entry) => text(entry, 'sk').split('#')[0])])
  const alerted = suspense.map((item) => text(item, 'suspense_id'))
  return reversalRowIds
    .filter((id) => !counted.has(id) && !alerted.some((suspenseId) => suspenseId.startsWith(id)))
    .map((id) => `money by ${id} is unknown`)
}

function dueOf(items: readonly RawItem[]) {
  return items.filter((item) => item['work'] !== undefined)
}

/** The register of clients names each client once, and that of suspense each item. */
function registerProblems(items: readonly RawItem[]) {
  const idsOf = (of: RegExp) =>
    new Set(items.flatMap(({ pk, sk }) => of.exec(`${String(pk)} ${String(sk)}`)?.[1] ?? []))
  return [
    ...unequal('client', idsOf(/^CLIENT#(.*) CLIENT$/), idsOf(/^AUDIT#clients .*#(.*)$/)),
    ...unequal('suspense', idsOf(/^SUSPENSE#(.*) SUSPENSE$/), idsOf(/^NOTED#\S+ (.*)$/)),
  ]
}

function unequal(kind: string, stored: ReadonlySet<string>, registered: ReadonlySet<string>) {
  return [
    ...[...stored.difference(registered)].map((id) => `no register names ${kind} ${id}`),
    ...[...registered.difference(stored)].map((id) => `${kind} ${id} is only in its register`),
  ]
}

/** Stored items never change, so each version of a row is checked once. */
const known = new WeakMap<RawItem, readonly string[]>()

/**
 * Each stored row is as its kind makes it from the thing that the row holds: no update leaves an
 * attribute that the maker of the row does not make, or makes otherwise.
 */
function rowProblems(items: readonly RawItem[]) {
  return items.flatMap((item) => {
    const problems = known.get(item) ?? problemsOfRow(item)
    known.set(item, problems)
    return problems
  })
}

function problemsOfRow(raw: RawItem) {
  const item = { ...fromItem(raw), pk: String(raw['pk']), sk: String(raw['sk']) }
  const about = `${kindOf(item)} ${item.pk} ${item.sk}`
  try {
    const remade = remadeRow(item)
    if (remade === undefined)
      return kindOf(item) in NOT_AUDITED ? [] : [`${about} has a kind that is in no list`]
    const unlisted = attributesOf(item).filter((name) => roleOf(kindOf(item), name) === undefined)
    const isMoved = remade.key.pk !== item.pk || remade.key.sk !== item.sk
    const differences = rowDifferences(kindOf(item), '', remade.fields, item)
    return [
      ...(isMoved ? [`${about} belongs to ${remade.key.pk} ${remade.key.sk}`] : []),
      ...unlisted.map(
        (name) => `${about}: ${name} is in no list of test/single-changes/registry.ts`,
      ),
      ...differences.map(
        ({ what }) => `${about} is stored with another ${what} than its kind makes`,
      ),
    ]
  } catch (error) {
    return [`${about} cannot be read: ${String(error)}`]
  }
}

function attributesOf(item: RawItem) {
  const { details, ...others } = comparable(item)
  const members = Object.keys(Object(details)).map((name) => `details.${attributeName(name)}`)
  return [...Object.keys(others), ...members]
}
