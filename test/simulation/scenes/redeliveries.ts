import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { text, wholeRow } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { waitFor } from '../world/world.ts'
import { type Happens, http, type Scene, tenantOf } from './http.ts'

const STATUSES = ['succeeded', 'abandoned', 'skipped', 'scheduled']

type Shown = { readonly id: string; readonly status: string; readonly endpoint_id: string }

export async function redeliverRepeatedly(play: Scene) {
  const { world, tenants, prng } = play
  const tenant = prng.pick(tenants)
  const status = prng.pick(STATUSES)
  const listed = await http(play, tenant, 'api-list-webhook-deliveries', {
    query: { status, per_page: '20' },
  })
  const shown = (listed?.status === 200 ? (listed.body['data'] ?? []) : []) as readonly Shown[]
  for (const one of shown.filter((other) => other.status !== status))
    world.problems.push(`${one.id} is listed among those that are ${status}, and is ${one.status}`)
  if (shown.length === 0) return
  const { id, endpoint_id: endpointId } = prng.pick(shown)
  const ways = rounds(play, tenant, id, endpointId)
  for (let left = prng.int(1, 4); left > 0; left--) {
    count(world.tally, 'redelivered repeatedly')
    const begun = ways
      .filter(() => prng.chance(0.5))
      .map((begin) => waitFor(world, prng.int(0, 40)).then(begin))
    await Promise.all(begun)
    await waitFor(world, prng.int(0, prng.pick([100, 2_000, 10_000, 200_000])))
  }
  const otherTenant = tenants.find(({ clientId }) => clientId !== tenant.clientId)
  if (otherTenant === undefined) return
  const reply = await operate(world, 'redeliver', {
    client_id: otherTenant.clientId,
    delivery_id: id,
  })
  if (reply?.status === 200)
    world.problems.push(`${id} was sent again as if it were of ${otherTenant.clientId}`)
}

function rounds(play: Scene, tenant: Tenant, id: string, endpointId: string) {
  const { world } = play
  const own = { client_id: tenant.clientId }
  const since = new Date(world.scheduler.nowMs() - DAY_MS).toISOString()
  const merchant = () => http(play, tenant, 'api-redeliver-webhook', { id })
  const operator = () => operate(world, 'redeliver', { ...own, delivery_id: id })
  const inBulk = () => operate(world, 'redeliver', { ...own, endpoint_id: endpointId, since })
  return [merchant, merchant, operator, operator, inBulk]
}

/** How close to the alert about an abandoned delivery a redelivery comes. */
const NEAR_MS = 3_000

/**
 * A delivery is redelivered at the moment when it is abandoned, or when the operators are alerted.
 */
export function arrangeRounds(play: Scene, happens: Happens) {
  const { world, scenePrng, scheduler } = play
  world.onChange.push(({ key, before, after }) => {
    if (
      key.sk !== 'DELIVERY' ||
      after?.['status'] !== 'abandoned' ||
      before?.['status'] === 'abandoned'
    )
      return
    if (!happens(0.4)) return
    const toldMs = Date.parse(text(after, 'due_at')) - scheduler.nowMs()
    const afterMs = scenePrng.pick([
      0,
      scenePrng.int(0, NEAR_MS),
      Math.max(0, toldMs),
      Math.max(0, toldMs) + 60_000,
    ])
    beginRound(play, wholeRow(after), afterMs + scenePrng.int(0, NEAR_MS))
  })
}

function beginRound(play: Scene, row: StoredItem, afterMs: number) {
  const tenant = tenantOf(play, row['client_id'])
  if (tenant === undefined) return
  const ways = rounds(play, tenant, text(row, 'delivery_id'), text(row, 'endpoint_id'))
  play.world.scheduler.after(Math.max(0, afterMs), () => void play.world.scenePrng.pick(ways)())
}

/**
 * Shorter than the delay of an alert, some tries long, or longer than the quarter of an hour
 * between two alerts.
 */
const DOWN_MS = [20_000, 90_000, 90_000, 4 * MINUTE_MS, 16 * MINUTE_MS]
const SHORT_MS = DOWN_MS.slice(0, 2)

export function breakAlertTopic(play: Scene, happens: Happens) {
  const { world, scenePrng, scheduler } = play
  world.onChange.push(({ key, before, after }) => {
    const isGivenUp =
      key.sk === 'DELIVERY' &&
      after?.['status'] === 'abandoned' &&
      before?.['attempts'] !== after['attempts']
    const isHeld = key.sk === 'SUSPENSE' && before === undefined
    if (after === undefined || !(isGivenUp || isHeld)) return
    if (scheduler.nowMs() < world.topicDownUntilMs || !happens(isGivenUp ? 0.2 : 0.03)) return
    const downMs = scenePrng.pick(isGivenUp ? DOWN_MS : SHORT_MS)
    world.topicDownUntilMs = scheduler.nowMs() + downMs
    if (isGivenUp) reportSituation(world, 'the alert topic is down when a delivery is abandoned')
    const soonMs = scenePrng.int(1_000, Math.min(downMs, MINUTE_MS))
    if (isGivenUp && scenePrng.chance(0.7))
      beginRound(
        play,
        wholeRow(after),
        scenePrng.pick([soonMs, downMs + scenePrng.int(-2_000, 90_000)]),
      )
  })
}
