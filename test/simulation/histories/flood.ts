import { paymentIdForKey, slotOf } from '../../../shared/ids.ts'
import { listPoints } from '../../../shared/page.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { WORK_SLOTS } from '../../../shared/table/schema.ts'
import { createAs, http } from '../scenes/http.ts'
import type { Environment } from '../world/environments.ts'
import { NO_FAULTS } from '../world/faults.ts'
import type { InvokeOptions } from '../world/lambda.ts'
import { createPrng, type Prng } from '../world/prng.ts'
import { addEndpoint, type SimEndpoint, type Tenant } from '../world/tenants.ts'
import { count, passed, trace, type World } from '../world/world.ts'
import type { Play } from './operations.ts'

type Passed = { readonly atMs: number; readonly weight: number; readonly environment: Environment | undefined }

/** A client that sends far more than it may, over several environments, and what became of it. */
export type Flood = {
  readonly tenant: Tenant
  readonly prng: Prng
  readonly passed: Passed[]
  /** Keys of creates that were refused, and never tried again. */
  readonly refused: Set<string>
  sent: number
}

/** Each sends one request after the other: about eight a second together. A limit of four lets half of them pass. */
const CONNECTIONS = 3
const REQUESTS = 12
const PAUSE_MS = 700

export const UNPAID = { method: 'qris', amount: 10_000, currency: 'IDR' }

/** Of its own source of chance: what it draws changes nothing else about a seed. */
export const createFlood = ({ scheduler }: World, tenant: Tenant): Flood => ({
  tenant,
  prng: createPrng(scheduler.steps()),
  passed: [],
  refused: new Set(),
  sent: 0,
})

/** One request of a flood; how much of the limit it takes. */
const send = async (play: Play, flood: Flood): Promise<void> => {
  const { prng, tenant } = flood
  const key = `flood-${flood.sent++}`
  const isCreate = prng.chance(0.3)
  const perPage = prng.pick([25, 100, 100, 100])
  const lives = isCreate && { expires_in_seconds: prng.int(60, 7_200) }
  const atMs = play.scheduler.nowMs()
  const met: Environment[] = []
  const options: InvokeOptions = { onEnvironment: (environment) => met.push(environment) }
  const reply = isCreate
    ? await createAs(play, tenant, key, JSON.stringify({ ...UNPAID, ...lives }), options)
    : await http(play, tenant, 'api-list-payments', { query: { per_page: String(perPage) } }, options)
  count(play.world.tally, `flood answered ${reply?.status ?? 'nothing'}`)
  if (reply?.status === 429 && isCreate) flood.refused.add(key)
  if (reply !== undefined && reply.status < 300) {
    flood.passed.push({ atMs, weight: isCreate ? 1 : listPoints(perPage), environment: met[0] })
  }
}

/** Some ten seconds of it. */
export const burst = async (play: Play, flood: Flood): Promise<void> => {
  trace(play.world, () => 'one client floods')
  count(play.world.tally, 'fault flood')
  const connection = async () => {
    for (let sent = 0; sent < REQUESTS; sent++) {
      await send(play, flood)
      await passed(play.world, flood.prng.int(1, PAUSE_MS))
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
}

const SECOND_MS = 1_000
/** Points of a page of a hundred. */
const HEAVIEST = 3

/** At most a fifth over the limit passes in ten seconds, or one request for each environment, or a page's weight. */
const passedProblems = ({ world }: Play, flood: Flood): readonly string[] => {
  if (world.faults.clockSkewMs > 0) return []
  const { rateLimit = 0 } = flood.tenant
  const seconds = world.faults.slowCall > 0 ? 20 : 10
  return flood.passed.flatMap(({ atMs }) => {
    const during = flood.passed.filter((other) => other.atMs >= atMs && other.atMs < atMs + 10 * SECOND_MS)
    const sum = during.reduce((total, { weight }) => total + weight, 0)
    const environments = new Set(during.map(({ environment }) => environment)).size
    const pages = new Set(during.filter(({ weight }) => weight > 1).map((one) => Math.floor(one.atMs / SECOND_MS))).size
    const most = seconds * rateLimit + Math.max(2 * rateLimit, environments) + (HEAVIEST - 1) * pages
    return sum > most ? [`${sum} requests of a flood passed in ten seconds, ${most} may`] : []
  })
}

/** A refused create wrote nothing: its key is not claimed. */
const writtenProblems = ({ world }: Play, { refused, tenant }: Flood): readonly string[] =>
  [...refused]
    .filter((key) => world.table.item(paymentKey(paymentIdForKey(tenant.clientId, key))) !== undefined)
    .map((key) => `${key} was refused, and there is a payment`)

export const floodProblems = (play: Play, flood: Flood): readonly string[] => [
  ...passedProblems(play, flood),
  ...writtenProblems(play, flood),
]

const MINUTE_MS = 60 * SECOND_MS
/** By then the gateway has repaired what the faults left, at the smallest quota too. */
const QUIET_MS = 120 * MINUTE_MS
/** At six calls a minute, five minutes of one slot's checks. */
const CROWD = 30
const LIFE_SECONDS = 600
/** A slot waits for a look, the run before it, and one owner's turn: two windows of the quota, by two clocks. */
const TURN_MS = 2 * MINUTE_MS + 2 * 10 * SECOND_MS + 30 * SECOND_MS
/** A lost callback is found by the provider's transactions (design section 4, Sync). */
const FOUND_MS = 10 * MINUTE_MS
/** From the row to the merchant, with nothing in the way. */
const TOLD_MS = 30 * SECOND_MS

const pass = ({ world }: Play, ms: number) => world.scheduler.runFor(ms)

/** Creates a payment and waits a second; its id. */
const created = async (play: Play, tenant: Tenant, key: string, body: object): Promise<string> => {
  const create = createAs(play, tenant, key, JSON.stringify(body))
  await pass(play, SECOND_MS)
  return String((await create)?.body['id'])
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
  const isAsEver = ({ getsAllEvents, changes }: SimEndpoint) => getsAllEvents !== false && changes === undefined
  if (tenant.endpoints.some(isAsEver)) return
  const made = addEndpoint(play.world, tenant.clientId)
  await pass(play, SECOND_MS)
  const endpoint = await made
  if (endpoint) tenant.endpoints.push({ ...endpoint, getsEventsFromMs: play.world.scheduler.nowMs() })
}

/** When the merchant heard of a payment's end. */
const notifiedAtMs = ({ world }: Play, paymentId: string): number =>
  world.merchants.received.find(({ body }) => body.includes(paymentId))?.atMs ?? Number.POSITIVE_INFINITY

/** A client leaves a crowd of unpaid payments in one slot; another client's payment waits for one turn only. */
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
  const late = notifiedAtMs(play, expiring) - dueMs
  const found = notifiedAtMs(play, paid) - paidMs
  return [
    ...(late > TURN_MS + TOLD_MS ? [`after a crowd a client heard of its payment ${late / SECOND_MS} s late`] : []),
    ...(found > FOUND_MS + TOLD_MS ? [`beside a crowd a lost callback was found after ${found / SECOND_MS} s`] : []),
  ]
}
