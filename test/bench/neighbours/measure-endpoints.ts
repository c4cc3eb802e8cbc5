import { setTimeout as pause } from 'node:timers/promises'
import { act, addMerchant, type BenchMerchant } from '../local/bench-merchant.ts'
import { type Latencies, measureRate, noLatencies } from '../local/latencies.ts'
import type { Bench } from '../local/start-bench.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../local/webhook-receiver.ts'

const HEALTHY = 4
/** Of every endpoint, the hanging one too. */
const DELIVERIES_A_SECOND = 5
const SLICE_MS = 15_000
const ROUNDS = 3
/** An attempt is given up after ten seconds: by then as many hang at once as ever will. */
const FILL_MS = 12_000
/** What is under way when a slice ends is no part of the next. */
const CALM_MS = 12_000

type Receiving = { readonly merchant: BenchMerchant; readonly receiver: WebhookReceiver }

/** Sends an event of its own to the merchant's endpoint. Answers the delivery's id. */
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

/**
 * Deliveries of healthy endpoints, from the operator's request to the webhook, beside one that answers and beside one
 * that hangs, in turn, every endpoint at the same rate.
 */
export const measureEndpoints = async (bench: Bench) => {
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
  for (let round = 0; round < ROUNDS; round++) {
    await run(SLICE_MS, alone)
    hanging = true
    await run(FILL_MS)
    await run(SLICE_MS, beside)
    hanging = false
    await pause(CALM_MS)
  }
  return { beside, alone, attemptsHeld }
}
