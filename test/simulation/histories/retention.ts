import type { RawItem, Seen } from '../../support/recount/books.ts'
import { problemsOf } from '../../support/recount/invariants.ts'
import { mustHear } from '../scenes/change-endpoints.ts'
import { lookUp, operate } from '../world/lambda.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY, type World } from '../world/world.ts'
import type { Play } from './operations.ts'
import { booksProblems } from './watch-books.ts'

const DAY_MS = 86_400_000
/** After the longest of an event, and two days in which the table gets round to it. */
const AGED_MS = 125 * DAY_MS
/** So late that the bytes of what is sent again would be gone before it is. */
const SENT_AGAIN_MS = 40 * DAY_MS
const AGED_EVERY = 25
const AGED_AT = 12

/** Few histories grow old: their months are mostly schedules that find nothing. */
export const isAged = (seed: number): boolean => seed % AGED_EVERY === AGED_AT

type Means = { readonly drive: <T>(promise: Promise<T>) => Promise<T>; readonly seenNow: () => Seen }

/** Once everything rests, months pass: webhooks are forgotten, all of them, and of the money nothing is. */
export const agedProblems = async (play: Play, { drive, seenNow }: Means): Promise<readonly string[]> => {
  const { world, tenants, seen } = play
  const isMoney = ({ pk, sk }: RawItem) => /^(LEDGER|SETTLEMENT|SUSPENSE)#/.test(String(pk)) || sk === 'PAYMENT'
  const money = world.table.items().filter((item) => isMoney(item) && item['status'] !== 'creating')
  await world.scheduler.runFor(SENT_AGAIN_MS)
  for (const { clientId } of tenants) {
    const own = world.table
      .items('DELIVERY#')
      .filter((item) => item['client_id'] === clientId && item['sk'] === 'DELIVERY')
    const again = own.length === 0 ? undefined : world.oddities.pick(own)['delivery_id']
    if (again !== undefined) await drive(operate(world, 'redeliver', { client_id: clientId, delivery_id: again }))
  }
  await world.scheduler.runFor(AGED_MS)
  const items = world.table.items()
  const problems = [...seen.problems, ...problemsOf(items, seenNow())]
  const kept = items.filter(({ sk }) => /^(DELIVERY$|ATTEMPT#|EVENT#)/.test(String(sk)))
  for (const { pk, sk } of kept) problems.push(`${String(pk)} ${String(sk)} is kept for ever`)
  for (const { pk, sk } of money) {
    const isThere = world.table.item({ pk: String(pk), sk: String(sk) }) !== undefined
    if (!isThere) problems.push(`${String(pk)} ${String(sk)} was forgotten`)
  }
  for (const { clientId } of tenants) {
    const audit = await drive(lookUp(world, 'audit-ledger', { client_id: clientId }))
    if (audit?.body['balanced'] !== true) problems.push(`months later the audit says ${JSON.stringify(audit?.body)}`)
  }
  return [...problems, ...(await booksProblems(play, drive))]
}

/** What the provider has captured and the gateway can know: of a row that is never shown only a request tells. */
const captured = ({ provider, table, unshownRows }: World): ReadonlyMap<string, number> => {
  const requests = provider.findPaymentRequests('')
  const isAskedFor = (id: string): boolean => {
    const request = requests.find(({ latest_payment_id: latest }) => latest === id)
    const pk = `PAYMENT#${request?.reference_id.slice(0, 36)}`
    const credited = table.item({ pk, sk: 'PAYMENT' })?.['credited_provider_payment_id']
    return request !== undefined && (credited === undefined || credited === id)
  }
  const known = provider.capturedPayments().filter(({ id }) => !unshownRows.has(id) || isAskedFor(id))
  return new Map(known.map(({ id, amount }) => [id, amount]))
}

export const seenBy = ({ world, tenants, seen }: Play): Seen => ({
  webhooks: world.merchants.received,
  secretOfUrl: new Map(tenants.flatMap(({ endpoints }) => endpoints.map(({ url, secret }) => [url, secret] as const))),
  captured: captured(world),
  turned: world.provider.turnedPayments(),
  bookedBack: world.bookedBack,
  endpointsOfClient: new Map(
    tenants.map(({ clientId, endpoints }) => [clientId, endpoints.map(({ endpointId }) => endpointId)]),
  ),
  mustHear: (endpointId, event) => mustHear(tenants, endpointId, event),
  destinationsOfKey: seen.destinations,
  paymentsOfKey: seen.paymentsOfKey,
  logLines: world.logLines,
  digestBlock: world.historySteps.block,
  confidential: [
    PROVIDER_KEY,
    CALLBACK_TOKEN,
    ...tenants.flatMap(({ apiKey, formerKeys, personal, endpoints }) => [
      apiKey,
      ...formerKeys,
      ...Object.values(personal),
      ...endpoints.map(({ secret }) => secret),
    ]),
  ],
})
