import { setTimeout as pause } from 'node:timers/promises'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { type Latencies, measuredOn, measureRate, noLatencies, percentile } from '../local/latencies.ts'
import {
  act,
  addMerchant,
  type BenchMerchant,
  createPayment,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../local/merchants-and-customers.ts'
import { type Bench, startBench } from '../local/start-bench.ts'

const HEALTHY = 4
/** Of every endpoint, the hanging one too. */
const DELIVERIES_A_SECOND = 5
const DELIVERIES_MS = 15_000
const DELIVERY_ROUNDS = 3
/** An attempt times out after ten seconds: after this time, as many attempts hang at once as ever will. */
const FILL_MS = 12_000
/** Hanging attempts of one slice end before the next slice begins. */
const CALM_MS = 12_000

type Receiving = { readonly merchant: BenchMerchant; readonly receiver: WebhookReceiver }

const send = async (bench: Bench, { clientId, endpointId }: BenchMerchant): Promise<string> => {
  const sent = await act(bench, 'send-test-event', { client_id: clientId, endpoint_id: endpointId })
  return String(sent['delivery_id'])
}

type Endpoints = { readonly healthy: readonly Receiving[]; readonly subject: Receiving }

/** A steady rate to every endpoint; the times are those of the healthy ones. */
const load = async (bench: Bench, { healthy, subject }: Endpoints, ms: number, into: Latencies): Promise<void> => {
  const rate = { perSecond: DELIVERIES_A_SECOND, ms }
  const others = healthy.map(({ merchant, receiver }) =>
    measureRate(noLatencies(), rate, async () => {
      const from = performance.now()
      into.ms.push((await receiver.arrivalOf(await send(bench, merchant))) - from)
    }),
  )
  await Promise.all([...others, measureRate(noLatencies(), rate, () => send(bench, subject.merchant))])
}

/** From the operator's request to the webhook, beside an endpoint that answers and one that hangs, in turn. */
const measureEndpoints = async (bench: Bench) => {
  await using started = new AsyncDisposableStack()
  let [hanging, attemptsHeld] = [false, 0]
  const add = async (hangs?: () => boolean): Promise<Receiving> => {
    const receiver = await startWebhookReceiver(hangs)
    started.defer(() => receiver.close())
    return { receiver, merchant: await addMerchant(bench, { endpointUrl: receiver.url }) }
  }
  const healthy: Receiving[] = []
  for (let added = 0; added < HEALTHY; added++) healthy.push(await add())
  const subject = await add(() => {
    if (hanging) attemptsHeld++
    return hanging
  })
  const [beside, alone] = [noLatencies(), noLatencies()]
  const run = (ms: number, into = noLatencies()) => load(bench, { healthy, subject }, ms, into)
  await run(3_000)
  for (let round = 0; round < DELIVERY_ROUNDS; round++) {
    await run(DELIVERIES_MS, alone)
    hanging = true
    await run(FILL_MS)
    await run(DELIVERIES_MS, beside)
    hanging = false
    await pause(CALM_MS)
  }
  return { beside, alone, attemptsHeld }
}

const noFigures = (flood: number) => ({ flood, create: noLatencies(), get: noLatencies(), passed: 0, refused: 0 })
type FloodFigures = ReturnType<typeof noFigures>

/** What every client of `prod` has unless operators set another. */
const FLOOD_LIMIT = deployedStage('prod').settings.clientRateLimit ?? 50
/** Requests a second of the flooding client: none, its limit, and four times its limit. */
const FLOODS = [0, FLOOD_LIMIT, 4 * FLOOD_LIMIT] as const
const OTHERS = 4
const CREATES_A_SECOND = 1
const GETS_A_SECOND = 4
const SLICE_MS = 5_000
const ROUNDS = 4

type Asking = { readonly merchant: BenchMerchant; readonly id: string }

const create = ({ call, gateway: { api } }: Bench, { headers }: BenchMerchant) => createPayment({ call, api }, headers)

const get = ({ call, gateway }: Bench, { merchant: { headers }, id }: Asking, wanted?: number) =>
  call({ method: 'GET', url: `${gateway.api}/v1/payments/${id}`, headers, wanted })

type Clients = { readonly others: readonly Asking[]; readonly flooder: Asking }

const slice = async (bench: Bench, { others, flooder }: Clients, into: FloodFigures): Promise<void> => {
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
const measureFlood = async (bench: Bench): Promise<readonly FloodFigures[]> => {
  const add = async (): Promise<Asking> => {
    const merchant = await addMerchant(bench, { rate_limit_per_second: FLOOD_LIMIT })
    return { merchant, id: await create(bench, merchant) }
  }
  const flooder = await add()
  const others: Asking[] = []
  for (let added = 0; added < OTHERS; added++) others.push(await add())
  const figures = FLOODS.map(noFigures)
  await slice(bench, { others, flooder }, noFigures(FLOOD_LIMIT))
  for (let round = 0; round < ROUNDS; round++) {
    for (const figure of figures) await slice(bench, { others, flooder }, figure)
  }
  return figures
}

const row = (what: string, beside: string, own: Latencies, base: Latencies, note: string): readonly string[] => {
  const times = [0.5, 0.99].flatMap((part) => {
    const ms = percentile(own.ms, part)
    return [ms.toFixed(1), (ms / percentile(base.ms, part)).toFixed(2)]
  })
  return [what, beside, ...times, String(own.ms.length), note]
}

const HEADING = ['Others', 'Beside', 'p50 ms', 'ratio', 'p99 ms', 'ratio', 'Asked', 'What became of the neighbour']

const noteOf = ({ flood, passed, refused }: FloodFigures): string =>
  flood === 0 ? '' : `${passed} passed, ${refused} answered 429`

const floodRows = (floods: readonly FloodFigures[]): readonly (readonly string[])[] => {
  const [base] = floods
  if (base === undefined) return []
  return (['create', 'get'] as const).flatMap((request) =>
    floods.map((figure) => {
      const beside = figure.flood === 0 ? 'none' : `${figure.flood} a second of a client that may ${FLOOD_LIMIT}`
      return row(request, beside, figure[request], base[request], noteOf(figure))
    }),
  )
}

/** p50 and p99 of other clients beside one that floods or hangs, as a multiple of those without it. */
export const neighboursReport = async () => {
  await using started = new AsyncDisposableStack()
  const bench = await startBench(started)
  const floods = await measureFlood(bench)
  const { alone, beside, attemptsHeld } = await measureEndpoints(bench)
  const table = markdownTable(HEADING, [
    row('delivery', 'an endpoint that answers', alone, alone, ''),
    row('delivery', 'an endpoint that hangs, at equal load', beside, alone, `${attemptsHeld} attempts hung`),
    ...floodRows(floods),
  ])
  return { text: `${measuredOn('npm run bench -- neighbours')}\n\n${table}` }
}
