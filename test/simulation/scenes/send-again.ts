import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../support/recount/books.ts'
import { passed } from '../world/drive.ts'
import type { Faults } from '../world/faults.ts'
import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { http } from './http.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
const STATUSES = ['succeeded', 'abandoned', 'skipped', 'scheduled']

type Shown = { readonly id: string; readonly status: string; readonly endpoint_id: string }

/** What a merchant is shown of its deliveries in one status: no other. */
const listed = async (play: Scene, tenant: Tenant): Promise<readonly Shown[]> => {
  const status = play.world.prng.pick(STATUSES)
  const reply = await http(play, tenant, 'api-list-webhook-deliveries', { query: { status, per_page: '20' } })
  const shown = (reply?.status === 200 ? (reply.body['data'] ?? []) : []) as readonly Shown[]
  for (const one of shown.filter((other) => other.status !== status))
    play.seen.problems.push(`${one.id} is listed among those that are ${status}, and is ${one.status}`)
  return shown
}

/** Everybody who may begins a round of it. */
export const rounds = (
  play: Scene,
  tenant: Tenant,
  { id, endpointId }: { readonly id: string; readonly endpointId: string },
) => {
  const { world } = play
  const own = { client_id: tenant.clientId }
  const since = new Date(world.scheduler.nowMs() - DAY_MS).toISOString()
  const merchant = () => http(play, tenant, 'api-redeliver-webhook', { id })
  const operator = () => operate(world, 'redeliver', { ...own, delivery_id: id })
  const inBulk = () => operate(world, 'redeliver', { ...own, endpoint_id: endpointId, since })
  return [merchant, merchant, operator, operator, inBulk]
}

const soon = ({ world }: Scene, mostMs: number) => passed(world, world.prng.int(0, mostMs))

/**
 * One delivery is sent again and again: by its merchant, by operators, by both at the same moment, after a round that
 * has just ended, and by an operator who takes it for another client's.
 */
export const sendAgain = async (play: Scene): Promise<void> => {
  const { world, tenants, seen } = play
  const { prng } = world
  const tenant = prng.pick(tenants)
  const shown = await listed(play, tenant)
  if (shown.length === 0) return
  const { id, endpoint_id: endpointId } = prng.pick(shown)
  const ways = rounds(play, tenant, { id, endpointId })
  for (let left = prng.int(1, 4); left > 0; left--) {
    count(world.tally, 'sent again')
    const begun = ways.filter(() => prng.chance(0.5)).map((begin) => soon(play, 40).then(begin))
    await Promise.all(begun)
    await soon(play, prng.pick([100, 2_000, 10_000, 200_000]))
  }
  const stranger = tenants.find(({ clientId }) => clientId !== tenant.clientId)
  if (stranger === undefined) return
  const mistaken = { client_id: stranger.clientId, delivery_id: id }
  const reply = await operate(world, 'redeliver', mistaken)
  if (reply?.status === 200) seen.problems.push(`${id} was sent again as if it were of ${stranger.clientId}`)
}

/** Around the moment at which the operators are told of what was given up. */
const NEAR_MS = 3_000

/**
 * Brings together what chance alone would not: a delivery is sent again in the very moment in which it was given up, or
 * in which the operators are told of it.
 */
export const arrangeRounds = (play: Scene, faults: Faults): void => {
  const { world } = play
  const { oddities, scheduler } = world
  const happens = (probability: number) => world.faults === faults && oddities.chance(probability)
  const tenantOf = (row: StoredItem) => play.tenants.find(({ clientId }) => clientId === row['client_id'])

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || after?.['status'] !== 'abandoned' || before?.['status'] === 'abandoned') return
    const tenant = tenantOf(after)
    if (tenant === undefined || !happens(0.4)) return
    const ways = rounds(play, tenant, { id: text(after, 'delivery_id'), endpointId: text(after, 'endpoint_id') })
    const toldMs = Date.parse(text(after, 'due_at')) - scheduler.nowMs()
    const afterMs = oddities.pick([0, oddities.int(0, NEAR_MS), Math.max(0, toldMs), Math.max(0, toldMs) + 60_000])
    scheduler.after(afterMs + oddities.int(0, NEAR_MS), () => void oddities.pick(ways)())
  })
}
