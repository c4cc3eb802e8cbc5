import { join } from 'node:path'
import * as v from 'valibot'
import { PAYMENT_BODY } from '../assumptions.ts'
import { addMerchant, expectStatus } from '../local/bench-merchant.ts'
import { CALLBACK_HEADERS, keepCallbacks, payAtProvider } from '../local/customers.ts'
import { type HttpCaller, httpCaller } from '../local/http-caller.ts'
import { during, type Latencies, measureLoop, noLatencies } from '../local/latencies.ts'
import { type Program, startProgram } from '../local/start-program.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../local/webhook-receiver.ts'

export const REQUESTS = ['create', 'get', 'list', 'callback', 'callback to webhook'] as const
export type FloorRequest = (typeof REQUESTS)[number]
export const CONCURRENCIES = [1, 8, 32] as const

/** One kind of request at one concurrency, on both. */
export type FloorFigure = {
  readonly request: FloorRequest
  readonly concurrency: number
  readonly gateway: Latencies
  readonly floor: Latencies
}

/** Payments by callers who pay flat out, and the webhooks of these payments. */
export type PaceFigure = {
  readonly paid: Latencies
  /** Webhooks that came until the last payment was answered. */
  readonly told: number
  /** From the last payment to the last webhook. */
  readonly restMs: number
}
export const PAYING = 16

type Side = {
  readonly name: 'gateway' | 'floor'
  readonly program: Program
  readonly headers: Record<string, string>
  /** Payments made so far, for those who ask about one. */
  readonly made: string[]
}

type Bench = { readonly caller: HttpCaller; readonly receiver: WebhookReceiver; readonly sides: readonly Side[] }

/** Both take turns in slices this short, so that whatever else the machine does hits both. */
const SLICE_MS = 800
const ROUNDS = 3
/** The first requests of a process are those of code that has not been compiled yet. */
const WARM_UP = 40
const ASKED_ABOUT = 100
const PACE_MS = 15_000
/** Callbacks in a slice: each needs a payment that was made and paid before. */
const CALLBACKS: Readonly<Record<number, number>> = { 1: 10, 8: 40, 32: 96 }
/** Far above what is asked here, so that no request is counted: both figures are those of a client far below its limit. */
const NO_LIMIT = 10_000

const Made = v.object({ id: v.string() })

const create = async ({ caller }: Bench, { program, headers, made }: Side): Promise<string> => {
  const answer = await caller.call({ method: 'POST', url: `${program.api}/v1/payments`, headers, body: PAYMENT_BODY })
  const { id } = v.parse(Made, JSON.parse(expectStatus(201, answer)))
  made.push(id)
  return id
}

const read = async ({ caller }: Bench, { program, headers }: Side, path: string): Promise<void> => {
  expectStatus(200, await caller.call({ method: 'GET', url: `${program.api}/v1/payments${path}`, headers }))
}

const slice = async (bench: Bench, side: Side, request: FloorRequest, concurrency: number, into: Latencies) => {
  const goOn = during(SLICE_MS)
  let asked = 0
  const asks: Readonly<Record<string, () => Promise<unknown>>> = {
    create: () => create(bench, side),
    get: () => read(bench, side, `/${side.made[asked++ % ASKED_ABOUT] ?? ''}`),
    list: () => read(bench, side, '?per_page=25'),
  }
  const ask = asks[request]
  if (ask !== undefined) await measureLoop(into, concurrency, goOn, ask)
}

const sendCallback = async ({ caller }: Bench, { program }: Side, body: string): Promise<void> => {
  const url = `${program.api}/callbacks/xendit`
  expectStatus(200, await caller.call({ method: 'POST', url, headers: CALLBACK_HEADERS, body }))
}

/** One slice of callbacks: when each was answered, and when its webhook came. */
const callbacks = async (bench: Bench, side: Side, concurrency: number, answered: Latencies, announced: Latencies) => {
  const { caller, receiver } = bench
  const paid: (readonly [string, string])[] = []
  const wanted = CALLBACKS[concurrency] ?? concurrency
  await measureLoop(
    noLatencies(),
    8,
    () => paid.length < wanted,
    async () => {
      const id = await create(bench, side)
      paid.push([id, await payAtProvider(caller, side.program, id)])
    },
  )
  const before = answered.ms.length
  await measureLoop(
    announced,
    concurrency,
    () => paid.length > 0,
    async () => {
      const [id = '', body = ''] = paid.pop() ?? []
      const came = receiver.webhookOf(id)
      const from = performance.now()
      await sendCallback(bench, side, body)
      answered.ms.push(performance.now() - from)
      await came
    },
  )
  // So many side by side: what a caller that waits for the answer alone could ask.
  const busyMs = answered.ms.slice(before).reduce((sum, ms) => sum + ms, 0)
  answered.elapsedMs += busyMs / concurrency
}

/** Callers who create, pay and send the callback, each the next payment at once. Webhooks are waited for at the end. */
const measurePace = async (bench: Bench, gateway: Side): Promise<PaceFigure> => {
  const { caller, receiver } = bench
  const before = receiver.came.size
  const paid = noLatencies()
  await measureLoop(paid, PAYING, during(PACE_MS), async () => {
    await sendCallback(bench, gateway, await payAtProvider(caller, gateway.program, await create(bench, gateway)))
  })
  const told = receiver.came.size - before
  const from = performance.now()
  await receiver.whenCame(before + paid.ms.length)
  return { paid, told, restMs: performance.now() - from }
}

const both = async <Figures>(bench: Bench, round: number, run: (side: Side) => Promise<Figures>): Promise<void> => {
  // Each begins as often as the other.
  for (const side of round % 2 === 0 ? bench.sides : bench.sides.toReversed()) await run(side)
}

const figure = (request: FloorRequest, concurrency: number): FloorFigure => ({
  request,
  concurrency,
  gateway: noLatencies(),
  floor: noLatencies(),
})

const measure = async (bench: Bench): Promise<readonly FloorFigure[]> => {
  const figures: FloorFigure[] = []
  for (const concurrency of CONCURRENCIES) {
    const own = REQUESTS.map((request) => figure(request, concurrency))
    const [answered, announced] = [own[3], own[4]]
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of own.slice(0, 3)) {
        await both(bench, round, (side) => slice(bench, side, one.request, concurrency, one[side.name]))
      }
      if (answered === undefined || announced === undefined) continue
      await both(bench, round, (side) => callbacks(bench, side, concurrency, answered[side.name], announced[side.name]))
    }
    figures.push(...own)
  }
  return figures
}

const warmUp = async (bench: Bench): Promise<void> => {
  for (const side of bench.sides) {
    await keepCallbacks(bench.caller, side.program)
    for (const request of ['create', 'get', 'list'] as const) {
      let left = request === 'create' ? ASKED_ABOUT : WARM_UP
      const [asked, into] = [noLatencies(), noLatencies()]
      while (left-- > 0) {
        if (request === 'create') await create(bench, side)
        else await read(bench, side, request === 'list' ? '' : `/${side.made[0] ?? ''}`)
      }
      await callbacks(bench, side, 8, asked, into)
    }
  }
}

/**
 * The local gateway and the floor program, each a process of its own on the same DynamoDB Local, with the provider's
 * simulator in its process; the same requests of both, in turn.
 */
export const measureFloor = async (): Promise<{
  readonly figures: readonly FloorFigure[]
  readonly pace: PaceFigure
}> => {
  await using started = new AsyncDisposableStack()
  const caller = httpCaller()
  started.defer(() => caller.close())
  const receiver = await startWebhookReceiver()
  started.defer(() => receiver.close())
  const gateway = await startProgram(join(import.meta.dirname, '../local/gateway-program.ts'))
  started.defer(() => gateway.end())
  const { endpoint = '', name = '' } = gateway.table ?? {}
  const floor = await startProgram(join(import.meta.dirname, 'floor-program.ts'), [endpoint, name, receiver.url])
  started.defer(() => floor.end())
  const options = { endpointUrls: [receiver.url], rateLimitPerSecond: NO_LIMIT }
  const { headers } = await addMerchant(caller, gateway, options)
  const own: Side = { name: 'gateway', program: gateway, headers, made: [] }
  const bench: Bench = {
    caller,
    receiver,
    sides: [own, { name: 'floor', program: floor, headers: { 'content-type': 'application/json' }, made: [] }],
  }
  await warmUp(bench)
  // Awaited here: what was started is ended when this returns.
  return { figures: await measure(bench), pace: await measurePace(bench, own) }
}
