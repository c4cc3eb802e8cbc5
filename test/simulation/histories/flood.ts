import { paymentIdForKey } from '../../../shared/ids.ts'
import { listPoints } from '../../../shared/page.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { http } from '../scenes/http.ts'
import { observeCreate } from '../watching/observations.ts'
import { passed } from '../world/drive.ts'
import type { Environment } from '../world/environments.ts'
import { createPrng, type Prng } from '../world/prng.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { tell, type World } from '../world/world.ts'
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

/** Each sends one request after the other: some eight a second together, of which a limit of four lets half pass. */
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
  const asked = isCreate
    ? {
        headers: { 'idempotency-key': key },
        body: JSON.stringify({ ...UNPAID, expires_in_seconds: prng.int(60, 7_200) }),
      }
    : { query: { per_page: String(perPage) } }
  const atMs = play.world.scheduler.nowMs()
  let environment: Environment | undefined
  const reply = await http(play, tenant, isCreate ? 'api-create-payment' : 'api-list-payments', asked, {
    onEnvironment: (met) => {
      environment = met
    },
  })
  count(play.world.tally, `flood answered ${reply?.status ?? 'nothing'}`)
  if (isCreate) observeCreate(play.seen, tenant, key, reply)
  if (reply?.status === 429 && isCreate) flood.refused.add(key)
  if (reply !== undefined && reply.status < 300) {
    flood.passed.push({ atMs, weight: isCreate ? 1 : listPoints(perPage), environment })
  }
}

/** Some ten seconds of it. */
export const burst = async (play: Play, flood: Flood): Promise<void> => {
  tell(play.world, () => 'one client floods')
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

/**
 * In any ten seconds a fifth more than its limit passes at most, or one request for each environment where those are
 * more; the last one of a second may be a page that counts for three. Calls that take seconds stretch the ten; with
 * clocks of their own machines count in seconds of their own.
 */
const passedProblems = ({ world }: Play, flood: Flood): readonly string[] => {
  if (world.faults.clockSkewMs > 0) return []
  const { rateLimit = 0 } = flood.tenant
  const { passed } = flood
  const seconds = world.faults.slowCall > 0 ? 20 : 10
  return passed.flatMap(({ atMs }) => {
    const during = passed.filter((other) => other.atMs >= atMs && other.atMs < atMs + 10 * SECOND_MS)
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
