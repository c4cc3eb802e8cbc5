import { paymentIdForKey, slotOf } from '../../../shared/ids.ts'
import { WORK_SLOTS } from '../../../shared/table/schema.ts'
import { http } from '../scenes/http.ts'
import { observeCreate } from '../watching/observations.ts'
import { NO_FAULTS } from '../world/faults.ts'
import { addEndpoint, type SimEndpoint, type Tenant } from '../world/tenants.ts'
import { type Flood, UNPAID } from './flood.ts'
import type { Play } from './operations.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
/** By then whatever the faults had left behind is done, at the smallest quota too. */
const QUIET_MS = 120 * MINUTE_MS
/** At six calls a minute, five minutes of one slot's checks. */
const CROWD = 30
const LIFE_SECONDS = 600
/**
 * A look each minute hands the slot out, a run that began before it ends within another, and then it is one owner's turn
 * each: two windows of the quota, with clocks twenty seconds apart.
 */
const TURN_MS = 2 * MINUTE_MS + 2 * 10 * SECOND_MS + 30 * SECOND_MS
/** A lost callback is found by the provider's transactions (design section 4, Sync). */
const FOUND_MS = 10 * MINUTE_MS
/** From the row to the merchant, with nothing in the way. */
const TOLD_MS = 30 * SECOND_MS

const pass = ({ world }: Play, ms: number) => world.scheduler.runUntil(world.scheduler.nowMs() + ms)

/** Creates a payment and waits a second; its id. */
const created = async (play: Play, tenant: Tenant, key: string, body: object): Promise<string> => {
  const asked = { headers: { 'idempotency-key': key }, body: JSON.stringify(body) }
  const create = http(play, tenant, 'api-create-payment', asked)
  await pass(play, SECOND_MS)
  const reply = await create
  observeCreate(play.seen, tenant, key, reply)
  return String(reply?.body['id'])
}

/** Keys whose payments all fall due in one slot. */
const keysOfSlot = ({ clientId }: Tenant, slot: number): readonly string[] => {
  const keys: string[] = []
  for (let number = 0; keys.length < CROWD; number++) {
    const key = `crowd-${number}`
    if (slotOf(paymentIdForKey(clientId, key), WORK_SLOTS.payment) === slot) keys.push(key)
  }
  return keys
}

/** What an operator has changed of a merchant's endpoints may leave none that hears all: it gets one more. */
const hearing = async (play: Play, tenant: Tenant): Promise<void> => {
  const isAsEver = ({ hearsAll, changes }: SimEndpoint) => hearsAll !== false && changes === undefined
  if (tenant.endpoints.some(isAsEver)) return
  const made = addEndpoint(play.world, tenant.clientId)
  await pass(play, SECOND_MS)
  const endpoint = await made
  if (endpoint) tenant.endpoints.push({ ...endpoint, hearsFromMs: play.world.scheduler.nowMs() })
}

/** When the merchant heard of a payment's end. */
const heardAtMs = ({ world }: Play, paymentId: string): number =>
  world.merchants.received.find(({ body }) => body.includes(paymentId))?.atMs ?? Number.POSITIVE_INFINITY

/**
 * The flooding client leaves a crowd of unpaid payments that are all looked at in one slot, and another client's falls
 * due after them: it waits for one owner's turn and not for the crowd. A third one is paid, and its callback is lost.
 */
export const crowdProblems = async (play: Play, { tenant: flooder }: Flood): Promise<readonly string[]> => {
  const { world } = play
  const [victim] = play.tenants
  if (!victim) throw new Error('the play has no tenant')
  world.provider.clearFaults()
  world.faults = { ...NO_FAULTS, callbackLost: 1 }
  await pass(play, QUIET_MS)
  await hearing(play, victim)
  const lastKey = 'behind-the-crowd'
  const slot = slotOf(paymentIdForKey(victim.clientId, lastKey), WORK_SLOTS.payment)
  for (const [at, key] of keysOfSlot(flooder, slot).entries()) {
    await created(play, flooder, key, { ...UNPAID, expires_in_seconds: LIFE_SECONDS - at })
  }
  const expiring = await created(play, victim, lastKey, { ...UNPAID, expires_in_seconds: LIFE_SECONDS - CROWD })
  const dueMs = world.scheduler.nowMs() + (LIFE_SECONDS - CROWD) * SECOND_MS
  const paid = await created(play, victim, 'paid-beside-the-crowd', UNPAID)
  world.provider.simulatePayment(world.provider.findPaymentRequests(paid)[0]?.payment_request_id ?? '')
  const paidMs = world.scheduler.nowMs()
  await pass(play, LIFE_SECONDS * SECOND_MS + TURN_MS)
  const late = heardAtMs(play, expiring) - dueMs
  const found = heardAtMs(play, paid) - paidMs
  return [
    ...(late > TURN_MS + TOLD_MS ? [`after a crowd a client heard of its payment ${late / SECOND_MS} s late`] : []),
    ...(found > FOUND_MS + TOLD_MS ? [`beside a crowd a lost callback was found after ${found / SECOND_MS} s`] : []),
  ]
}
