import type { RawItem, Seen } from '../../support/recount/books.ts'
import { problemsOf } from '../../support/recount/invariants.ts'
import { lookUp, operate } from '../world/lambda.ts'
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
  await world.scheduler.runUntil(world.scheduler.nowMs() + SENT_AGAIN_MS)
  for (const { clientId } of tenants) {
    const own = world.table
      .items('DELIVERY#')
      .filter((item) => item['client_id'] === clientId && item['sk'] === 'DELIVERY')
    const again = own.length === 0 ? undefined : world.oddities.pick(own)['delivery_id']
    if (again !== undefined) await drive(operate(world, 'redeliver', { client_id: clientId, delivery_id: again }))
  }
  await world.scheduler.runUntil(world.scheduler.nowMs() + AGED_MS)
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
