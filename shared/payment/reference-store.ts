import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import { enforceRateLimit } from '../client/enforce-rate-limit.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { readParts } from '../ledger/window-store.ts'
import { firstOfPage, type Page, pageWeight } from '../page.ts'
import type { PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { ownerOf, ownersOf, referenceKey, referencePk } from '../table/keys.ts'
import { queryPages } from '../table/query-pages.ts'
import { put, type Step } from '../table/step.ts'
import type { PaymentList } from './list-payments.ts'
import type { Payment } from './payment.ts'
import { findPaymentsByKey } from './payment-store.ts'

/**
 * What leads from a merchant's reference to its payment: written once, by the transaction that makes the payment visible.
 * Undefined for a payment without one.
 */
export const pointFromReference = ({ externalReference: reference, ...payment }: Payment): Step | undefined => {
  if (!reference) return undefined
  const { clientId, part, createdAt, paymentId } = payment
  return put(referenceKey(ownerOf(clientId, part), reference, createdAt, paymentId), { paymentId })
}

/** How many payments one reference may have to be listed: an order has a few, and each of them may have to be looked at. */
export const MOST_OF_REFERENCE = 1_000

type Asked = {
  readonly client: Client
  readonly reference: string
  readonly status: PaymentStatus | undefined
  readonly page: Page
}

/**
 * One page of a client's payments with a reference, newest first, with their true number. All of it is read consistently,
 * so that a payment is found as soon as its create is answered. For a status all of them are looked at, and count in the
 * client's rate limit as a list of so many. Throws 422 for a reference of more than a thousand payments.
 */
export const paymentsOfReference = async (
  deps: Pick<Deps, 'table' | 'now' | 'stage'>,
  { client, reference, status, page }: Asked,
): Promise<PaymentList> => {
  const ids = await idsOfReference(deps, client.clientId, reference)
  if (ids.length > MOST_OF_REFERENCE) throw tooMany()
  const ofPage = <One>(all: readonly One[]) => all.slice(firstOfPage(page), firstOfPage(page) + page.perPage)
  // A pointer suggests; whose the payment is and what it is called is the payment's to say.
  const isMeant = (payment: Payment) => payment.clientId === client.clientId && payment.externalReference === reference

  if (status === undefined) {
    const payments = await findPaymentsByKey(deps, ofPage(ids))
    return { payments: payments.filter(isMeant), total: ids.length }
  }
  const taken = pageWeight(page.perPage)
  const more = pageWeight(ids.length, MOST_OF_REFERENCE) - taken
  if (more > 0) await enforceRateLimit(deps, client, more, taken)
  const all = (await findPaymentsByKey(deps, ids)).filter((payment) => isMeant(payment) && payment.status === status)
  return { payments: ofPage(all), total: all.length }
}

/** All that a client's reference leads to, newest first, of every part; no longer all where they are more than a thousand. */
export const idsOfReference = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  reference: string,
): Promise<readonly PaymentId[]> => {
  const owners = ownersOf(clientId, await readParts(deps, clientId))
  const pointers = await Promise.all(owners.map((owner) => pointersIn(deps, owner, reference)))
  return pointers
    .flat()
    .toSorted(newestFirst)
    .map(({ paymentId }) => v.parse(PaymentIdSchema, paymentId))
}

const pointersIn = async (deps: Pick<Deps, 'table'>, owner: string, reference: string): Promise<readonly Item[]> => {
  const partition = [referencePk(owner, reference)]
  const found: Item[] = []
  for await (const items of queryPages(deps, { partition, newestFirst: true, limit: MOST_OF_REFERENCE + 1 })) {
    found.push(...items)
    if (found.length > MOST_OF_REFERENCE) break
  }
  return found
}

/** Times of one length and plain letters behind them, whose order is DynamoDB's. */
const newestFirst = (a: Item, b: Item): number => (String(a['sk']) < String(b['sk']) ? 1 : -1)

const tooMany = () =>
  invalid(
    `external_reference: more than ${MOST_OF_REFERENCE} payments have it`,
    { external_reference: ['too many payments'] },
    'List payments without it, or fetch one by its id or idempotency key. Give each order a reference of its own.',
  )
