import { amount, clientOf, type RawItem } from '../../../support/recount/books.ts'
import { meet } from '../../sometimes/meet.ts'
import { operate } from '../../world/lambda.ts'
import { count } from '../../world/tally.ts'
import type { World } from '../../world/world.ts'
import type { Scene } from '../scene.ts'

const windowOf = ({ table }: World, clientId: string): RawItem =>
  table.item({ pk: `LEDGER#${clientId}`, sk: 'WINDOW' }) ?? {}

/** Pending and available of a client. */
const balanceOf = (world: World, clientId: string): number => {
  const shards = world.table.items(`LEDGER#${clientId}`).filter(({ sk }) => String(sk).startsWith('SHARD#'))
  const credited = shards.reduce((total, shard) => total + amount(shard, 'credited_minor'), 0)
  const window = windowOf(world, clientId)
  return credited - amount(window, 'in_settlement_minor') - amount(window, 'paid_out_minor')
}

/** A row of no payment that no correction has taken over. */
const strayRow = ({ table, oddities }: World): string | undefined => {
  const rows = table.items('JOURNAL#house#').filter(({ type }) => type === 'unmatched' || type === 'withdrawal')
  return rows.length === 0 ? undefined : String(oddities.pick([...rows])['transaction_id'])
}

/**
 * An operator writes down what a client paid back by bank, what is given up, or a correction; sometimes twice at once by
 * the same reference. A debt is paid back or given up as it stands.
 */
export const adjust = async ({ world, tenants, seen }: Scene): Promise<void> => {
  const { oddities, table } = world
  const owing = tenants.filter(({ clientId }) => balanceOf(world, clientId) < 0)
  const { clientId } = oddities.pick(owing.length > 0 && oddities.chance(0.8) ? owing : tenants)
  const owed = -balanceOf(world, clientId)
  const kind = oddities.pick(['recovered', 'written_off', 'correction'])
  const row = kind === 'correction' && oddities.chance(0.6) ? strayRow(world) : undefined
  const minor = owed > 0 ? oddities.int(1, owed) : oddities.int(1, 5_000)
  const asked = {
    client_id: clientId,
    kind,
    amount_minor: kind === 'correction' && oddities.chance(0.5) ? -minor : minor,
    reference: `adjustment-${oddities.int(1, 40)}`,
    ...(row !== undefined && { provider_transaction_id: row }),
  }
  const calls = oddities.chance(0.3) ? [asked, asked] : [asked]
  const replies = await Promise.all(calls.map((call) => operate(world, 'adjust-ledger', call)))
  for (const reply of replies) count(world.tally, `adjusted: ${kind} ${reply?.status ?? 'nothing'}`)
  if (replies.some((reply) => reply?.status === 200)) meet(world, `an operator adjusts a ledger`)
  const written = table
    .items(`JOURNAL#${clientId}`)
    .filter((entry) => clientOf(entry) === clientId && replies.some((reply) => reply?.body['id'] === idOf(entry)))
  if (replies.some((reply) => reply?.status === 200) && written.length !== 1)
    seen.problems.push(`${asked.reference} of ${clientId} is ${written.length} entries`)
}

const idOf = ({ sk }: RawItem): string | undefined => String(sk).split('#')[1]

/** Payouts of a client are held, and later go on. */
export const holdPayouts = async ({ world, tenants }: Scene): Promise<void> => {
  const about = { client_id: world.oddities.pick(tenants).clientId }
  await operate(world, 'update-client', { ...about, payout_hold: 'asked by its bank' })
  const waitMs = world.oddities.pick([60_000, 3_600_000, 90_000_000])
  world.scheduler.after(waitMs, () => void operate(world, 'update-client', { ...about, payout_hold: null }))
}
