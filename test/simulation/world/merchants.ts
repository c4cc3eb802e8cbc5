import type { WebhookRequest, WebhookResult } from '../../../shared/send-webhook.ts'
import type { Faults } from './faults.ts'
import type { Prng } from './prng.ts'

export type ReceivedWebhook = {
  readonly url: string
  readonly atMs: number
  readonly deliveryId: string
  readonly body: string
  readonly signature: string
  readonly answered: number | 'nothing'
}

export type Impairment = 'late' | 'refuses' | 'hangs'

const TIMEOUT_MS = 10_000
/** Long enough to hold a worker, and shorter than an attempt's timeout. */
const LATE = { minMs: 5_000, maxMs: 9_900 }

/** A POST that hangs may have been received. */
export function createMerchants(prng: Prng, onFault: (fault: keyof Faults) => void) {
  const received: ReceivedWebhook[] = []
  /**
   * URLs that answer late but within an attempt's timeout, that accept no connection, or that hang.
   */
  const impaired = new Map<string, Impairment>()
  const lastingFaults = new Map<string, { readonly hangs: boolean; readonly untilMs: number }>()

  /** Whether a server hangs is drawn again after minutes or hours. */
  const isStuck = (url: string, { endpointHangs }: Faults, nowMs: number) => {
    if (endpointHangs === 0) return false
    const known = lastingFaults.get(url)
    if (known && nowMs < known.untilMs) return known.hangs
    const hangs = prng.chance(endpointHangs)
    lastingFaults.set(url, { hangs, untilMs: nowMs + prng.int(60_000, 2 * 3_600_000) })
    return hangs
  }

  return {
    received,
    impaired,
    /** `arrive`: when the request reaches the server. */
    plan: (request: WebhookRequest, faults: Faults, nowMs: number) => {
      const impairment = impaired.get(request.url)
      if (impairment === 'refuses') {
        const durationMs = prng.int(1, 50)
        return { durationMs, arrive: () => outcome(undefined, 'connection', durationMs) }
      }
      const isDown = impairment === 'hangs' || isStuck(request.url, faults, nowMs)
      const hangs = prng.chance(faults.merchantHangs) || isDown
      if (hangs) onFault(isDown ? 'endpointHangs' : 'merchantHangs')
      const answersMs = impairment === 'late' ? prng.int(LATE.minMs, LATE.maxMs) : prng.int(5, 800)
      const durationMs = hangs ? TIMEOUT_MS : answersMs
      const status = prng.chance(faults.merchantFails) ? prng.pick([500, 503, 404, 302]) : 200
      if (status !== 200 && !hangs) onFault('merchantFails')
      return {
        durationMs,
        arrive: (atMs: number) => {
          const { url, headers } = request
          const deliveryId = headers['X-Gateway-Delivery-Id'] ?? ''
          const signature = headers['X-Gateway-Signature'] ?? ''
          const answered = hangs ? 'nothing' : status
          received.push({
            url,
            atMs,
            deliveryId,
            body: request.body.toString('utf8'),
            signature,
            answered,
          })
          if (hangs) return outcome(undefined, 'timeout', durationMs)
          return outcome(status, status === 200 ? undefined : 'http_status', durationMs)
        },
      }
    },
  }
}

function outcome(status: number | undefined, error: WebhookResult['error'], durationMs: number) {
  return {
    httpStatus: status,
    error,
    responseBody: status === undefined ? undefined : 'ok',
    durationMs,
  }
}
