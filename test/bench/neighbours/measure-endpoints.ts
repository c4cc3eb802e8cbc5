import { act, addMerchant, type BenchMerchant } from '../local/bench-merchant.ts'
import type { HttpCaller } from '../local/http-caller.ts'
import { type Latencies, measureRate, noLatencies } from '../local/latencies.ts'
import type { Program } from '../local/start-program.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../local/webhook-receiver.ts'

/** Deliveries of the healthy endpoints, from the operator's request to the webhook, beside one that hangs and one that does not. */
export type EndpointFigures = { readonly beside: Latencies; readonly alone: Latencies; readonly attemptsHeld: number }

const HEALTHY = 4
/** Of every endpoint, the hanging one too. */
const DELIVERIES_A_SECOND = 5
const SLICE_MS = 15_000
const ROUNDS = 3
/** An attempt is given up after ten seconds: by then as many hang at once as ever will. */
const FILL_MS = 12_000
/** What is under way when a slice ends is no part of the next. */
const CALM_MS = 12_000
const WEBHOOK_WITHIN_MS = 30_000

type Receiving = { readonly merchant: BenchMerchant; readonly receiver: WebhookReceiver }

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Sends an event of its own to one endpoint. Answers the delivery's id. */
const send = async (
  caller: HttpCaller,
  gateway: Program,
  { clientId, endpointIds }: BenchMerchant,
): Promise<string> => {
  const target = { operator: 'bench', client_id: clientId, endpoint_id: endpointIds[0] }
  return String((await act(caller, gateway, 'send-test-event', target))['delivery_id'])
}

/** Waits for the webhook; it may have come before the answer that names it. */
const arrivalOf = async ({ came }: WebhookReceiver, deliveryId: string): Promise<number> => {
  const until = performance.now() + WEBHOOK_WITHIN_MS
  while (performance.now() < until) {
    const at = came.get(deliveryId)
    if (at !== undefined) return at
    await pause(5)
  }
  throw new Error(`no webhook came in ${WEBHOOK_WITHIN_MS} ms`)
}

/** A steady rate to every endpoint; the times are those of the healthy ones. */
const load = async (
  caller: HttpCaller,
  gateway: Program,
  { healthy, subject, ms, into }: { healthy: readonly Receiving[]; subject: Receiving; ms: number; into: Latencies },
): Promise<void> => {
  const rate = { perSecond: DELIVERIES_A_SECOND, ms }
  const others = healthy.map(({ merchant, receiver }) =>
    measureRate(noLatencies(), rate, async () => {
      const from = performance.now()
      const came = await arrivalOf(receiver, await send(caller, gateway, merchant))
      into.ms.push(came - from)
    }),
  )
  await Promise.all([...others, measureRate(noLatencies(), rate, () => send(caller, gateway, subject.merchant))])
  into.elapsedMs += ms
}

/** Healthy endpoints beside one that answers and beside one that hangs, in turn, every endpoint at the same rate. */
export const measureEndpoints = async (caller: HttpCaller, gateway: Program): Promise<EndpointFigures> => {
  await using started = new AsyncDisposableStack()
  let [hanging, attemptsHeld] = [false, 0]
  const add = async (hangs: () => boolean): Promise<Receiving> => {
    const receiver = await startWebhookReceiver({ hangs })
    started.defer(() => receiver.close())
    return { receiver, merchant: await addMerchant(caller, gateway, { endpointUrls: [receiver.url] }) }
  }
  const healthy: Receiving[] = []
  for (let added = 0; added < HEALTHY; added++) healthy.push(await add(() => false))
  const subject = await add(() => {
    if (hanging) attemptsHeld++
    return hanging
  })
  const [beside, alone] = [noLatencies(), noLatencies()]
  await load(caller, gateway, { healthy, subject, ms: 3_000, into: noLatencies() })
  for (let round = 0; round < ROUNDS; round++) {
    hanging = false
    await load(caller, gateway, { healthy, subject, ms: SLICE_MS, into: alone })
    hanging = true
    await load(caller, gateway, { healthy, subject, ms: FILL_MS, into: noLatencies() })
    await load(caller, gateway, { healthy, subject, ms: SLICE_MS, into: beside })
    hanging = false
    await pause(CALM_MS)
  }
  return { beside, alone, attemptsHeld }
}
