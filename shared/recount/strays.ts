import * as v from 'valibot'
import { STRAY_EVENT, tellsOf } from '../audit/judged/audit-event.ts'
import { type JudgedPayment, judgeById } from '../audit/judged/audit-payments.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { type Event, typeOfEvent } from '../event/event.ts'
import { eventIsThere } from '../event/event-store.ts'
import { type PaymentId, PaymentIdSchema } from '../ids.ts'
import type { Entry } from '../journal/entry.ts'
import { entryPages } from '../journal/read-entries.ts'
import type { StoredPayment } from '../payment/payment.ts'
import { parseStored } from '../payment/payment-store.ts'
import type { Item } from '../table/attributes.ts'
import { paymentKey } from '../table/keys.ts'
import type { Steps } from '../table/table.ts'
import { END_OF_TIME, SECOND_MS, TimestampSchema } from '../time.ts'
import { type Difference, isSame } from '../verdict/difference.ts'
import { lostDeliveries, storedEvent } from './complete-payment.ts'
import type { RecountBy, RecountDeps } from './repair.ts'

/** A stored event that its payment does not show. */
export type StrayEvent = {
  readonly difference: Difference
  readonly payment: StoredPayment
  readonly event: Event
  readonly item: Item
}

/** A stored entry that its payment does not show. */
export type StrayEntry = { readonly difference: Difference; readonly paymentId: PaymentId; readonly entry: Entry }

export type Strays = { readonly events: readonly StrayEvent[]; readonly entries: readonly StrayEntry[] }

const findEvent = async (deps: RecountDeps, { clientId }: ClientBooks, difference: Difference) => {
  const paymentId = paymentNamedBy(difference)
  if (paymentId === undefined) return []
  const name = String(difference.found)
  const stored = await storedEvent(deps, { paymentId }, name)
  const item = await deps.table.get(paymentKey(paymentId))
  const payment = parseStored(item)
  if (stored === undefined || payment?.clientId !== clientId || tellsOf(item, name)) return []
  return [{ difference, payment, ...stored }]
}

/** Finds the named entries in the journal after the last settlement. */
const findEntries = async (
  deps: RecountDeps,
  { clientId, parts, settlements, client }: ClientBooks,
  strays: readonly Difference[],
): Promise<readonly StrayEntry[]> => {
  const named = new Map(strays.map((one) => [one.id, one]))
  if (named.size === 0) return []
  const start = settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt
  const span = { start, end: v.parse(TimestampSchema, END_OF_TIME) }
  const found: StrayEntry[] = []
  for await (const { entries } of entryPages(deps, { clientId, parts, span })) {
    for (const entry of entries) {
      const difference = named.get(entry.entryId)
      const paymentId = difference && paymentNamedBy(difference)
      if (difference && paymentId) found.push({ difference, paymentId, entry })
    }
  }
  return found
}

/** Reads the named events and entries that their payments do not show. */
export const findStrays = async (
  deps: RecountDeps,
  books: ClientBooks,
  expected: readonly Difference[],
): Promise<Strays> => {
  const events = expected.filter((one) => one.what === 'event' && one.expected === STRAY_EVENT)
  const entries = expected.filter((one) => one.what === 'entry' && String(one.expected).startsWith('one of payment '))
  return {
    events: (await Promise.all(events.map((one) => findEvent(deps, books, one)))).flat(),
    entries: await findEntries(deps, books, entries),
  }
}

export const isOfStatus = ({ event: { name } }: StrayEvent): boolean => typeOfEvent(name) === name

/** Keeps the event, because the merchant may have it, and rebuilds its lost deliveries. */
export const keptEvent = async (deps: RecountDeps, { event }: Pick<StrayEvent, 'event'>): Promise<Steps<string>> => ({
  ...(await lostDeliveries(deps, event)),
  [event.name]: eventIsThere(event),
})

const OF_PAYMENT = /^(payment|event)(\.|$)/
const NAMED = /\bpayment ([0-9a-f-]{36})$/

/** The payment of a difference: by the difference's id, or by the name in its expected value. */
export const paymentNamedBy = ({ what, id, expected }: Difference): PaymentId | undefined => {
  const named = OF_PAYMENT.test(what) ? id : NAMED.exec(String(expected))?.[1]
  const parsed = v.safeParse(PaymentIdSchema, named)
  return parsed.success ? parsed.output : undefined
}

/** The wait before the second judgement, because a payment may change while it is read. */
const SECOND_LOOK_MS = 10 * SECOND_MS

/** Judges the client's named payments twice and answers the differences found both times. */
export const judgeNamed = async (
  deps: RecountDeps,
  { client: { clientId } }: RecountBy,
  expected: readonly Difference[],
): Promise<readonly JudgedPayment[]> => {
  const ids = [...new Set(expected.flatMap((one) => paymentNamedBy(one) ?? []))]
  if (ids.length === 0) return []
  const first = await judgeById(deps, { clientId }, ids)
  await deps.sleep(SECOND_LOOK_MS)
  const second = await judgeById(deps, { clientId }, ids)
  return second
    .map((judged, at) => ({
      ...judged,
      differences: judged.differences.filter((now) => first[at]?.differences.some((one) => isSame(one, now))),
    }))
    .filter(({ payment }) => payment === undefined || payment.clientId === clientId)
}
