import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { PAYMENT_BODY } from '../assumptions.ts'
import { addMerchant, type BenchMerchant, expectStatus } from '../local/bench-merchant.ts'
import { CALLBACK_HEADERS, keepCallbacks, payAtProvider } from '../local/customers.ts'
import { type HttpCaller, httpCaller } from '../local/http-caller.ts'
import { percentile } from '../local/latencies.ts'
import { type Program, startProgram } from '../local/start-program.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../local/webhook-receiver.ts'
import { startBareDeliveries } from './bare-deliveries.ts'
import { treeOfCommit } from './tree-of-commit.ts'

/** Milliseconds of a processor for one more delivery of a fan-out, each time it was measured. */
export type DeliveryFigures = {
  readonly now: readonly number[]
  readonly before: readonly number[]
  readonly bare: readonly number[]
}

const ENDPOINTS = 40
const PAYMENTS = 5
const WARM_UP = 3
const ROUNDS = 9
/** Of one slice, whatever it does: the pollers' own CPU is then the same with one endpoint and with many. */
const SLICE_MS = 2_500

const Made = v.object({ id: v.string() })
const Used = v.object({ cpuMs: v.number() })

type Side = { readonly program: Program; readonly few: BenchMerchant; readonly many: BenchMerchant }
type Bench = { readonly caller: HttpCaller; readonly receiver: WebhookReceiver }

const cpuMs = async ({ program }: Side): Promise<number> => v.parse(Used, await program.ask()).cpuMs

/** CPU of everything between some payments' callbacks and their last webhook's place in the table. */
const fanOut = async ({ caller, receiver }: Bench, side: Side, merchant: BenchMerchant): Promise<number> => {
  const { program } = side
  const callbacks: string[] = []
  for (let made = 0; made < PAYMENTS; made++) {
    const { headers } = merchant
    const answer = await caller.call({ method: 'POST', url: `${program.api}/v1/payments`, headers, body: PAYMENT_BODY })
    const { id } = v.parse(Made, JSON.parse(expectStatus(201, answer)))
    callbacks.push(await payAtProvider(caller, program, id))
  }
  receiver.came.clear()
  const wanted = PAYMENTS * merchant.endpointIds.length
  const [from, until] = [await cpuMs(side), performance.now() + SLICE_MS]
  const url = `${program.api}/callbacks/xendit`
  for (const body of callbacks) {
    expectStatus(200, await caller.call({ method: 'POST', url, headers: CALLBACK_HEADERS, body }))
  }
  await receiver.whenCame(wanted)
  await sleep(Math.max(until - performance.now(), SLICE_MS / 5))
  return (await cpuMs(side)) - from
}

const oneMore = async (bench: Bench, side: Side): Promise<number> => {
  const few = await fanOut(bench, side, side.few)
  const many = await fanOut(bench, side, side.many)
  return (many - few) / (PAYMENTS * (ENDPOINTS - 1))
}

/** This tree and that of a commit in turn, and the SDK's client alone behind them, in the same minutes. */
export const measureDelivery = async (commit: string): Promise<DeliveryFigures> => {
  await using started = new AsyncDisposableStack()
  const deferred = <Started extends { close(): unknown }>(one: Started): Started => {
    started.defer(() => void one.close())
    return one
  }
  const bench = { caller: deferred(httpCaller()), receiver: deferred(await startWebhookReceiver()) }
  const before = await treeOfCommit(commit)
  started.defer(() => before.close())
  const start = async (tree: string): Promise<Side> => {
    const program = await startProgram(`${import.meta.dirname}/gateway-of-tree.ts`, [tree])
    started.defer(() => program.end())
    await keepCallbacks(bench.caller, program)
    const merchant = (endpoints: number) =>
      addMerchant(bench.caller, program, {
        endpointUrls: Array.from({ length: endpoints }, (_, at) => `${bench.receiver.url}/${at}`),
      })
    return { program, few: await merchant(1), many: await merchant(ENDPOINTS) }
  }
  const sides = { now: await start(PROJECT_ROOT), before: await start(before.path) }
  const bare = await startBareDeliveries()
  started.defer(() => bare.close())
  const figures = { now: [] as number[], before: [] as number[], bare: [] as number[] }
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const measured = {
      now: await oneMore(bench, sides.now),
      before: await oneMore(bench, sides.before),
      bare: await bare.measure(PAYMENTS * ENDPOINTS),
    }
    if (round < 0) continue
    figures.now.push(measured.now)
    figures.before.push(measured.before)
    figures.bare.push(measured.bare)
  }
  return figures
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)
