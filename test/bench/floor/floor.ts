import { markdownTable } from '../../support/markdown-table.ts'
import { measuredOn } from '../measured-on.ts'
import { pacesReport } from './paces.ts'
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

const COMPARED = ['a second', 'p50 ms', 'p99 ms'].flatMap((figure) => [figure, 'floor', 'ratio'])

/** Fails when webhooks are slow, or late under a flat-out load. */
export async function floorReport() {
  const { figures, paces } = await measureFloor()
  const table = markdownTable(['Request', 'At once', ...COMPARED, 'Asked'], figures.flatMap(rowsOf))
  return {
    text: [measuredOn('npm run bench -- floor'), table, paces.text].join('\n\n'),
    failures: [...figures.flatMap(slowProblems), ...paces.failures],
  }
}

type Measured = {
  readonly name: 'gateway' | 'floor'
  readonly program: Program
  readonly headers: Record<string, string>
  readonly receiver: WebhookReceiver
}

/** Each callback needs a payment that is made and paid. */
const LOADS = [
  { concurrency: 1, callbacks: 10 },
  { concurrency: 8, callbacks: 40 },
  { concurrency: 32, callbacks: 96 },
] as const
const [, WARM_UP] = LOADS

type Side = Readonly<Record<(typeof REQUESTS)[number], Latencies>>

type Slice = (side: Measured, load: (typeof LOADS)[number], into: Side) => Promise<void>

const SLICES: readonly Slice[] = [creates, callbacks]

/**
 * Gateway and floor program are processes on the same DynamoDB Local. They get the same requests in
 * turn.
 */
async function measureFloor() {
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
  for (const side of sides) {
    await keepCallbacks(side.program)
    // The first requests of a process run code that has not been compiled yet.
    for (const slice of [...SLICES, ...SLICES]) await slice(side, WARM_UP, noFigures())
  }
  // Awaited here, because the started processes end when this function returns.
  return { figures: await measure(sides), paces: await pacesReport(own) }
}

/** Both sides alternate in slices this short, so that other load of the machine affects both. */
function creates(
  side: Measured,
  { concurrency }: (typeof LOADS)[number],
  into: Side,
): Promise<void> {
  return measureLoop(into.create, concurrency, during(800), () => create(side))
}

/** Each of the concurrent callers asks again as soon as it is answered. */
async function measureLoop(
  into: Latencies,
  concurrency: number,
  goOn: () => boolean,
  ask: () => Promise<unknown>,
): Promise<void> {
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

function during(ms: number): () => boolean {
  const until = performance.now() + ms
  return () => performance.now() < until
}

function create({ program, headers }: Measured) {
  return createPayment(program, headers)
}

async function callbacks(
  side: Measured,
  { concurrency, callbacks: count }: (typeof LOADS)[number],
  into: Side,
): Promise<void> {
  const paid: (readonly [string, string])[] = []
  const pay = async () => {
    const id = await create(side)
    paid.push([id, await payAtProvider(side.program, id)])
  }
  await measureLoop(noLatencies(), 8, () => paid.length < count, pay)
  const announce = async () => {
    const [id = '', body = ''] = paid.pop() ?? []
    const from = performance.now()
    await sendCallback(side.program, body)
    const tookMs = performance.now() - from
    into.callback.ms.push(tookMs)
    // Divided by the number of concurrent callers: the time of one caller that waits for the answer
    // alone.
    into.callback.elapsedMs += tookMs / concurrency
    await side.receiver.arrivalOf(id)
  }
  await measureLoop(into['callback to webhook'], concurrency, () => paid.length > 0, announce)
}

function noLatencies(): Latencies {
  return { ms: [], elapsedMs: 0 }
}

const REQUESTS = ['create', 'callback', 'callback to webhook'] as const

function noFigures() {
  return Object.fromEntries(REQUESTS.map((request) => [request, noLatencies()])) as Side
}

type FloorFigures = { readonly concurrency: number; readonly gateway: Side; readonly floor: Side }

async function measure(sides: readonly Measured[]): Promise<readonly FloorFigures[]> {
  const measured: FloorFigures[] = []
  for (const load of LOADS) {
    const figures = { concurrency: load.concurrency, gateway: noFigures(), floor: noFigures() }
    for (let round = 0; round < 3; round++) {
      for (const slice of SLICES) {
        for (const side of round % 2 === 0 ? sides : sides.toReversed())
          await slice(side, load, figures[side.name])
      }
    }
    measured.push(figures)
  }
  return measured
}

const [p50, p99] = [percentile(0.5), percentile(0.99)]

function rowsOf({ concurrency, gateway, floor }: FloorFigures): readonly (readonly string[])[] {
  return REQUESTS.map((request) => {
    const [own, least] = [gateway[request], floor[request]]
    const times = [p50, p99].flatMap((of) => beside(1, of(own), of(least)))
    const pace = beside(0, perSecond(own), perSecond(least))
    return [request, String(concurrency), ...pace, ...times, `${own.ms.length}, ${least.ms.length}`]
  })
}

/**
 * The least value that this part of all values does not exceed (`0.99`: one in a hundred takes
 * longer).
 */
function percentile(part: number) {
  return ({ ms }: Latencies): number =>
    ms.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(ms.length * part) - 1)] ?? Number.NaN
}

function beside(digits: number, own: number, floor: number): readonly string[] {
  return [own.toFixed(digits), floor.toFixed(digits), (own / floor).toFixed(2)]
}

function perSecond({ ms, elapsedMs }: Latencies): number {
  return (ms.length / elapsedMs) * 1_000
}

/** The way from the callback to the webhook takes at most 1.3 times as long (design section 9). */
function slowProblems({ concurrency, gateway, floor }: FloorFigures): readonly string[] {
  const ratio = p50(gateway['callback to webhook']) / p50(floor['callback to webhook'])
  return ratio <= 1.3
    ? []
    : [`a webhook takes ${ratio.toFixed(2)} of the floor's time, ${concurrency} at once`]
}
