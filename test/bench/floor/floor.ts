import { markdownTable } from '../../support/markdown-table.ts'
import { measuredOn } from '../measured-on.ts'
import { inParallel, pacesReport, type Running } from './paces.ts'
import {
  addMerchant,
  createPayment,
  keepCallbacks,
  payAtProvider,
  sendCallback,
  startProgram,
  startWebhookReceiver,
} from './programs.ts'

const COMPARED = ['p50 ms', 'p99 ms'].flatMap((figure) => [figure, 'floor', 'ratio'])

export async function floorReport() {
  const { figures, paces } = await measureFloor()
  const table = markdownTable(['What', 'At once', ...COMPARED, 'Samples'], figures.map(rowOf))
  return {
    text: [measuredOn('npm run bench -- floor'), table, paces.text].join('\n\n'),
    failures: [...figures.flatMap(slowProblems), ...paces.failures],
  }
}

type Measured = Running & { readonly name: 'gateway' | 'floor' }

/** The samples of a slice. Each callback needs a payment that is made and paid. */
const LOADS = [
  { concurrency: 1, count: 10 },
  { concurrency: 8, count: 40 },
  { concurrency: 32, count: 96 },
] as const
const [, WARM_UP] = LOADS

/** Gateway and floor program are processes on the same DynamoDB Local. */
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
    for (let slice = 0; slice < 2; slice++) await measureWebhooks(side, WARM_UP)
  }
  // Awaited here, because the started processes end when this function returns.
  return { figures: await measure(sides), paces: await pacesReport(own) }
}

type Slice = (side: Measured, load: (typeof LOADS)[number]) => Promise<readonly number[]>

/** What is compared, and how many times the floor's p50 it may take (design section 9). */
const COMPARISONS: readonly { readonly name: string; readonly most: number; slice: Slice }[] = [
  { name: 'create', most: 1.6, slice: measureCreates },
  { name: 'callback to webhook', most: 1.3, slice: measureWebhooks },
]

async function measureCreates(
  { program, headers }: Measured,
  { concurrency, count }: (typeof LOADS)[number],
) {
  const tookMs: number[] = []
  let begun = 0
  await inParallel(concurrency, async () => {
    while (begun++ < count) {
      const from = performance.now()
      await createPayment(program, headers)
      tookMs.push(performance.now() - from)
    }
  })
  return tookMs
}

async function measureWebhooks(
  { program, headers, receiver }: Measured,
  { concurrency, count }: (typeof LOADS)[number],
) {
  const paid: (readonly [string, string])[] = []
  await inParallel(8, async () => {
    while (paid.length < count) {
      const id = await createPayment(program, headers)
      paid.push([id, await payAtProvider(program, id)])
    }
  })
  const tookMs: number[] = []
  await inParallel(concurrency, async () => {
    for (let next = paid.pop(); next; next = paid.pop()) {
      const [id, body] = next
      const from = performance.now()
      await sendCallback(program, body)
      await receiver.arrivalOf(id)
      tookMs.push(performance.now() - from)
    }
  })
  return tookMs
}

type FloorFigures = {
  readonly name: string
  readonly most: number
  readonly concurrency: number
} & Readonly<Record<Measured['name'], readonly number[]>>

/** Both sides alternate in short slices, so that other load of the machine affects both. */
async function measure(sides: readonly Measured[]) {
  const measured: FloorFigures[] = []
  for (const { name, most, slice } of COMPARISONS) {
    for (const load of LOADS) {
      const ms: Record<Measured['name'], number[]> = { gateway: [], floor: [] }
      for (let round = 0; round < 3; round++) {
        for (const side of round % 2 === 0 ? sides : sides.toReversed())
          ms[side.name].push(...(await slice(side, load)))
      }
      measured.push({ name, most, concurrency: load.concurrency, ...ms })
    }
  }
  return measured
}

function rowOf({ name, concurrency, gateway, floor }: FloorFigures) {
  const times = [0.5, 0.99].flatMap((part) => {
    const [own, least] = [percentile(gateway, part), percentile(floor, part)]
    return [own.toFixed(1), least.toFixed(1), (own / least).toFixed(2)]
  })
  return [name, String(concurrency), ...times, `${gateway.length}, ${floor.length}`]
}

/**
 * The least value that this part of all values does not exceed (`0.99`: one in a hundred takes
 * longer).
 */
function percentile(ms: readonly number[], part: number) {
  return ms.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(ms.length * part) - 1)] ?? Number.NaN
}

function slowProblems({ name, most, concurrency, gateway, floor }: FloorFigures) {
  const ratio = percentile(gateway, 0.5) / percentile(floor, 0.5)
  return ratio <= most
    ? []
    : [`${name} takes ${ratio.toFixed(2)} of the floor's time, ${concurrency} at once`]
}
