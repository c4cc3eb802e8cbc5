import { deployedStage } from '../../../infra/stack/stage.ts'
import { PAYMENT_BODY } from '../assumptions.ts'
import { addMerchant, type BenchMerchant } from '../local/bench-merchant.ts'
import { type Latencies, measureRate, noLatencies } from '../local/latencies.ts'
import type { Bench } from '../local/start-bench.ts'

/** Others' requests while one client asks at a rate of its own. */
export type FloodFigures = {
  /** Requests a second that the flooding client sends. */
  readonly flood: number
  readonly create: Latencies
  readonly get: Latencies
  readonly passed: number
  readonly refused: number
}

/** What every client of `prod` has unless operators set another. */
export const FLOOD_LIMIT = deployedStage('prod').settings.clientRateLimit ?? 50
/** None, all that it may, and four times as much. */
const FLOODS = [0, FLOOD_LIMIT, 4 * FLOOD_LIMIT] as const
const OTHERS = 4
const CREATES_A_SECOND = 1
const GETS_A_SECOND = 4
const SLICE_MS = 5_000
const ROUNDS = 4

/** A client, and a payment of its own to ask for. */
type Asking = { readonly merchant: BenchMerchant; readonly id: string }

const create = async ({ call, gateway }: Bench, { headers }: BenchMerchant): Promise<string> => {
  const url = `${gateway.api}/v1/payments`
  return JSON.parse((await call({ method: 'POST', url, headers, body: PAYMENT_BODY, wanted: 201 })).text).id
}

const get = ({ call, gateway }: Bench, { merchant: { headers }, id }: Asking, wanted?: number) =>
  call({ method: 'GET', url: `${gateway.api}/v1/payments/${id}`, headers, wanted })

type Clients = { readonly others: readonly Asking[]; readonly flooder: Asking }

type Counted = { -readonly [Name in keyof FloodFigures]: FloodFigures[Name] }

const slice = async (bench: Bench, { others, flooder }: Clients, into: Counted): Promise<void> => {
  const flood = measureRate(noLatencies(), { perSecond: into.flood, ms: SLICE_MS }, async () => {
    const { status } = await get(bench, flooder)
    if (status === 200) into.passed++
    else if (status === 429) into.refused++
    else throw new Error(`the flood was answered ${status}`)
  })
  const asking = others.flatMap((other) => [
    measureRate(into.create, { perSecond: CREATES_A_SECOND, ms: SLICE_MS }, () => create(bench, other.merchant)),
    measureRate(into.get, { perSecond: GETS_A_SECOND, ms: SLICE_MS }, () => get(bench, other, 200)),
  ])
  await Promise.all([flood, ...asking])
}

/** Others' creates and gets at a steady rate, in turn without a flood and beside floods of one client. */
export const measureFlood = async (bench: Bench): Promise<readonly FloodFigures[]> => {
  const add = async (): Promise<Asking> => {
    const merchant = await addMerchant(bench, { rate_limit_per_second: FLOOD_LIMIT })
    return { merchant, id: await create(bench, merchant) }
  }
  const flooder = await add()
  const others: Asking[] = []
  for (let added = 0; added < OTHERS; added++) others.push(await add())
  const zero = (flood: number): Counted => ({
    flood,
    create: noLatencies(),
    get: noLatencies(),
    passed: 0,
    refused: 0,
  })
  const figures = FLOODS.map(zero)
  await slice(bench, { others, flooder }, zero(FLOOD_LIMIT))
  for (let round = 0; round < ROUNDS; round++) {
    for (const figure of figures) await slice(bench, { others, flooder }, figure)
  }
  return figures
}
