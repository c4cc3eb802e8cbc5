import { deployedStage } from '../../../infra/stack/stage.ts'
import { addMerchant, type BenchMerchant, expectStatus } from '../local/bench-merchant.ts'
import type { HttpCaller } from '../local/http-caller.ts'
import { type Latencies, measureRate, noLatencies } from '../local/latencies.ts'
import type { Program } from '../local/start-program.ts'

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

const BODY = JSON.stringify({
  method: 'qris',
  amount: 150_000,
  currency: 'IDR',
  external_reference: 'order-2026-000001',
})

type Bench = { readonly caller: HttpCaller; readonly gateway: Program }

const create = async ({ caller, gateway }: Bench, { headers }: BenchMerchant): Promise<string> => {
  const answer = await caller.call({ method: 'POST', url: `${gateway.api}/v1/payments`, headers, body: BODY })
  return String(JSON.parse(expectStatus(201, answer)).id)
}

const get = ({ caller, gateway }: Bench, { headers }: BenchMerchant, id: string) =>
  caller.call({ method: 'GET', url: `${gateway.api}/v1/payments/${id}`, headers })

type Clients = {
  readonly others: readonly (readonly [BenchMerchant, string])[]
  readonly flooder: readonly [BenchMerchant, string]
}

type Counted = { -readonly [Name in keyof FloodFigures]: FloodFigures[Name] }

const slice = async (bench: Bench, { others, flooder: [flooder, own] }: Clients, into: Counted): Promise<void> => {
  const flood = measureRate(noLatencies(), { perSecond: into.flood, ms: SLICE_MS }, async () => {
    const { status } = await get(bench, flooder, own)
    if (status === 200) into.passed++
    else if (status === 429) into.refused++
    else throw new Error(`the flood was answered ${status}`)
  })
  const asking = others.flatMap(([merchant, id]) => [
    measureRate(into.create, { perSecond: CREATES_A_SECOND, ms: SLICE_MS }, () => create(bench, merchant)),
    measureRate(into.get, { perSecond: GETS_A_SECOND, ms: SLICE_MS }, async () =>
      expectStatus(200, await get(bench, merchant, id)),
    ),
  ])
  await Promise.all([flood, ...asking])
}

/** Others' creates and gets at a steady rate, in turn without a flood and beside floods of one client. */
export const measureFlood = async (caller: HttpCaller, gateway: Program): Promise<readonly FloodFigures[]> => {
  const bench = { caller, gateway }
  const add = async (rateLimitPerSecond: number) => {
    const merchant = await addMerchant(caller, gateway, { rateLimitPerSecond })
    return [merchant, await create(bench, merchant)] as const
  }
  const flooder = await add(FLOOD_LIMIT)
  const others: (readonly [BenchMerchant, string])[] = []
  for (let added = 0; added < OTHERS; added++) others.push(await add(FLOOD_LIMIT))
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
