import { markdownTable } from '../../support/markdown-table.ts'
import { measuredOn } from '../measured-on.ts'
import {
  addMerchant,
  createPayment,
  keepCallbacks,
  type Program,
  payAtProvider,
  sendCallback,
  startProgram,
  startWebhookReceiver,
  type WebhookReceiver,
} from './programs.ts'

type Latencies = { readonly ms: number[]; elapsedMs: number }

const noLatencies = (): Latencies => ({ ms: [], elapsedMs: 0 })

/** The least value that this part of all is not above (`0.99`: one in a hundred takes longer). */
const percentile = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

const perSecond = ({ ms, elapsedMs }: Latencies): number => (ms.length / elapsedMs) * 1_000

/** Callers side by side, each asking again as soon as it is answered, while `goOn` says yes. Adds what each ask took. */
const measureLoop = async (
  into: Latencies,
  concurrency: number,
  goOn: () => boolean,
  ask: () => Promise<unknown>,
): Promise<void> => {
  const from = performance.now()
  const caller = async () => {
    while (goOn()) {
      const askedAt = performance.now()
      await ask()
      into.ms.push(performance.now() - askedAt)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  into.elapsedMs += performance.now() - from
}

const during = (ms: number): (() => boolean) => {
  const until = performance.now() + ms
  return () => performance.now() < until
}

const REQUESTS = ['create', 'callback', 'callback to webhook'] as const
type FloorRequest = (typeof REQUESTS)[number]
const CONCURRENCIES = [1, 8, 32] as const

type Side = Readonly<Record<FloorRequest, Latencies>>

type FloorFigures = { readonly concurrency: number; readonly gateway: Side; readonly floor: Side }

const PAYING = 16

type Measured = {
  readonly name: 'gateway' | 'floor'
  readonly program: Program
  readonly headers: Record<string, string>
  readonly receiver: WebhookReceiver
}

/** Both alternate in slices this short, so that other load of the machine affects both. */
const SLICE_MS = 800
const ROUNDS = 3
const PACE_MS = 15_000
/** Callbacks in a slice: each needs a payment that was made and paid before. */
const CALLBACKS: Readonly<Record<number, number>> = { 1: 10, 8: 40, 32: 96 }

const create = ({ program, headers }: Measured) => createPayment(program, headers)

type Slice = (side: Measured, concurrency: number, into: Side) => Promise<void>

const creates: Slice = (side, concurrency, into) =>
  measureLoop(into.create, concurrency, during(SLICE_MS), () => create(side))

/** When each callback was answered, and when its webhook came. */
const callbacks: Slice = async (side, concurrency, into) => {
  const paid: (readonly [string, string])[] = []
  const pay = async () => {
    const id = await create(side)
    paid.push([id, await payAtProvider(side.program, id)])
  }
  await measureLoop(noLatencies(), 8, () => paid.length < (CALLBACKS[concurrency] ?? concurrency), pay)
  const answered = noLatencies()
  const announce = async () => {
    const [id = '', body = ''] = paid.pop() ?? []
    const from = performance.now()
    await sendCallback(side.program, body)
    answered.ms.push(performance.now() - from)
    await side.receiver.arrivalOf(id)
  }
  await measureLoop(into['callback to webhook'], concurrency, () => paid.length > 0, announce)
  into.callback.ms.push(...answered.ms)
  // So many side by side: what a caller that waits for the answer alone could ask.
  into.callback.elapsedMs += answered.ms.reduce((sum, ms) => sum + ms, 0) / concurrency
}

const SLICES: readonly Slice[] = [creates, callbacks]

const noFigures = () => Object.fromEntries(REQUESTS.map((request) => [request, noLatencies()])) as Side

/** Callers who create, pay and send the callback, each the next payment at once. Webhooks are waited for at the end. */
const measurePace = async (gateway: Measured) => {
  const [paid, ids]: [Latencies, string[]] = [noLatencies(), []]
  await measureLoop(paid, PAYING, during(PACE_MS), async () => {
    const id = await create(gateway)
    await sendCallback(gateway.program, await payAtProvider(gateway.program, id))
    ids.push(id)
  })
  const arrived = ids.filter((id) => gateway.receiver.came.has(id)).length
  const from = performance.now()
  await Promise.all(ids.map(gateway.receiver.arrivalOf))
  return { paid, arrived, /** From the last payment to the last webhook. */ restMs: performance.now() - from }
}
type PaceFigure = Awaited<ReturnType<typeof measurePace>>

/** The first requests of a process are those of code that has not been compiled yet. */
const warmUp = async (side: Measured): Promise<void> => {
  await keepCallbacks(side.program)
  for (const slice of [...SLICES, ...SLICES]) await slice(side, 8, noFigures())
}

const measure = async (sides: readonly Measured[]): Promise<readonly FloorFigures[]> => {
  const measured: FloorFigures[] = []
  for (const concurrency of CONCURRENCIES) {
    const figures = { concurrency, gateway: noFigures(), floor: noFigures() }
    for (let round = 0; round < ROUNDS; round++) {
      for (const slice of SLICES) {
        // Each begins as often as the other.
        for (const side of round % 2 === 0 ? sides : sides.toReversed())
          await slice(side, concurrency, figures[side.name])
      }
    }
    measured.push(figures)
  }
  return measured
}

/** Gateway and floor program, each a process on the same DynamoDB Local, are asked the same in turn. */
const measureFloor = async () => {
  await using started = new AsyncDisposableStack()
  const receiver = await startWebhookReceiver()
  started.defer(() => receiver.close())
  const gateway = await startProgram('gateway-program.ts')
  started.defer(() => gateway.end())
  const { endpoint = '', name = '' } = gateway.table ?? {}
  const floor = await startProgram('floor-program.ts', endpoint, name, receiver.url)
  started.defer(() => floor.end())
  const headers = await addMerchant(gateway, receiver.url)
  const shared = { receiver, headers }
  const own: Measured = { ...shared, name: 'gateway', program: gateway }
  const sides: readonly Measured[] = [own, { ...shared, name: 'floor', program: floor }]
  for (const side of sides) await warmUp(side)
  // Awaited here: what was started is ended when this returns.
  return { figures: await measure(sides), pace: await measurePace(own) }
}

const p50 = ({ ms }: Latencies): number => percentile(ms, 0.5)
const p99 = ({ ms }: Latencies): number => percentile(ms, 0.99)

const beside = (digits: number, own: number, floor: number): readonly string[] => [
  own.toFixed(digits),
  floor.toFixed(digits),
  (own / floor).toFixed(2),
]

const COMPARED = ['a second', 'p50 ms', 'p99 ms'].flatMap((figure) => [figure, 'floor', 'ratio'])
const HEADING = ['Request', 'At once', ...COMPARED, 'Asked']

const rowsOf = ({ concurrency, gateway, floor }: FloorFigures): readonly (readonly string[])[] =>
  REQUESTS.map((request) => {
    const [own, least] = [gateway[request], floor[request]]
    const times = [p50, p99].flatMap((of) => beside(1, of(own), of(least)))
    const pace = beside(0, perSecond(own), perSecond(least))
    return [request, String(concurrency), ...pace, ...times, `${own.ms.length}, ${least.ms.length}`]
  })

/** While callers pay flat out, at least this part of the webhooks keeps pace. The rest comes within this time afterwards. */
const MIN_PACE = 0.5
const MAX_REST_MS = 5_000

const paceText = ({ paid, arrived, restMs }: PaceFigure): string => {
  const payments = perSecond(paid)
  const webhooks = (arrived / paid.elapsedMs) * 1_000
  const ratio = (webhooks / payments).toFixed(2)
  return `While ${PAYING} callers paid flat out: ${payments.toFixed(1)} payments and ${webhooks.toFixed(1)} webhooks a second (${ratio}); the last webhook came ${(restMs / 1_000).toFixed(1)} s after the last payment (${paid.ms.length} payments).`
}

const tooLate = ({ paid, arrived, restMs }: PaceFigure): readonly string[] => [
  ...(arrived < paid.ms.length * MIN_PACE
    ? [`${arrived} webhooks came while ${paid.ms.length} payments were made`]
    : []),
  ...(restMs > MAX_REST_MS ? [`the last webhook came ${Math.round(restMs)} ms after the last payment`] : []),
]

/** Of the way from the callback to the webhook (design section 9). */
const MAX_RATIO = 1.3

const tooSlow = ({ concurrency, gateway, floor }: FloorFigures): readonly string[] => {
  const ratio = p50(gateway['callback to webhook']) / p50(floor['callback to webhook'])
  return ratio <= MAX_RATIO ? [] : [`a webhook takes ${ratio.toFixed(2)} of the floor's time, ${concurrency} at once`]
}

/** Compares each request on both programs. Fails when webhooks are slow, or late under a flat-out load. */
export const floorReport = async () => {
  const { figures, pace } = await measureFloor()
  const text = [measuredOn('npm run bench -- floor'), markdownTable(HEADING, figures.flatMap(rowsOf)), paceText(pace)]
  return { text: text.join('\n\n'), failures: [...figures.flatMap(tooSlow), ...tooLate(pace)] }
}
