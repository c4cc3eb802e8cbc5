import { paymentIdForKey } from '../../../shared/ids.ts'
import { listPoints } from '../../../shared/page.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { createAs, http } from '../scenes/http.ts'
import type { Environment } from '../world/environments.ts'
import type { InvokeOptions } from '../world/lambda.ts'
import { createPrng, type Prng } from '../world/prng.ts'
import type { Tenant } from '../world/tenants.ts'
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

const UNPAID = { method: 'qris', amount: 10_000, currency: 'IDR' }

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
