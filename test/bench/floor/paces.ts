import {
  createPayment,
  type Program,
  payAtProvider,
  sendCallback,
  type WebhookReceiver,
} from './programs.ts'

export type Running = {
  readonly program: Program
  readonly headers: Record<string, string>
  readonly receiver: WebhookReceiver
}

const MOST_LATE_MS = 5_000

type Load = {
  readonly text: string
  readonly credited: number
  readonly elapsedMs: number
  /** The webhooks that came before the last credit. */
  readonly arrived: number
  /** From the last credit to the last webhook. */
  readonly restMs: number
  readonly leastRatio: number
}

/**
 * How well webhooks keep pace with credits: beside callers that wait for each answer, and beside
 * callbacks that the provider sends without waiting. The late webhooks come within five seconds.
 */
export async function pacesReport(gateway: Running) {
  const loads = [await callersWithoutPause(gateway), await openBurst(gateway)]
  return { text: loads.map(paceText).join('\n\n'), failures: loads.flatMap(lateProblems) }
}

const PAYING = 16
const PAYING_MS = 15_000

async function callersWithoutPause({ program, headers, receiver }: Running) {
  const ids: string[] = []
  const from = performance.now()
  await inParallel(PAYING, async () => {
    while (performance.now() < from + PAYING_MS) {
      const id = await createPayment(program, headers)
      await sendCallback(program, await payAtProvider(program, id))
      ids.push(id)
    }
  })
  const text = `While ${PAYING} callers paid flat out`
  return { text, leastRatio: 0.5, ...(await untilTold(receiver, ids, from)) }
}

const BURST = 900

async function openBurst({ program, headers, receiver }: Running) {
  const paid: (readonly [string, string])[] = []
  await inParallel(PAYING, async () => {
    while (paid.length < BURST) {
      const id = await createPayment(program, headers)
      paid.push([id, await payAtProvider(program, id)])
    }
  })
  const from = performance.now()
  await Promise.all(paid.map(([, body]) => sendCallback(program, body)))
  const ids = paid.map(([id]) => id)
  const text = `In an open burst of ${BURST} callbacks`
  return { text, leastRatio: 0.75, ...(await untilTold(receiver, ids, from)) }
}

export async function inParallel(concurrency: number, caller: () => Promise<void>) {
  await Promise.all(Array.from({ length: concurrency }, caller))
}

/** Called at the last credit. */
async function untilTold(receiver: WebhookReceiver, ids: readonly string[], from: number) {
  const creditedAt = performance.now()
  const arrived = ids.filter((id) => receiver.came.has(id)).length
  await Promise.all(ids.map(receiver.arrivalOf))
  const restMs = performance.now() - creditedAt
  return { credited: ids.length, elapsedMs: creditedAt - from, arrived, restMs }
}

function paceText({ text, credited, elapsedMs, arrived, restMs }: Load) {
  const [credits, webhooks] = [credited, arrived].map((count) => (count / elapsedMs) * 1_000)
  const paces = `${credits?.toFixed(1)} credits and ${webhooks?.toFixed(1)} webhooks a second`
  const ratio = (arrived / credited).toFixed(2)
  return `${text}: ${paces} (${ratio}); the last webhook came ${(restMs / 1_000).toFixed(1)} s after the last of ${credited} credits.`
}

function lateProblems({ text, credited, arrived, restMs, leastRatio }: Load) {
  return [
    ...(arrived < credited * leastRatio
      ? [`${text}, ${arrived} webhooks came beside ${credited} credits`]
      : []),
    ...(restMs > MOST_LATE_MS
      ? [`${text}, the last webhook came ${Math.round(restMs)} ms after the last credit`]
      : []),
  ]
}
