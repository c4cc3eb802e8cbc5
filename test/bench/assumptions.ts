import { FRONT_LOG_FIELDS } from '../../infra/stack/front-stack.ts'
import { deployedStage } from '../../infra/stack/stage.ts'
import { ACCESS_LOG_FIELDS } from '../../infra/stack/triggers/gateway-http-api.ts'
import { RUN_SECONDS } from './walls/payment-use.ts'

/**
 * What cannot be measured here. Replace durations by those of your own functions (`AWS/Lambda
 * Duration`).
 */
export const ASSUMPTIONS = {
  hoursPerMonth: 730,
  /** Billed milliseconds of one invocation, the wait for the provider included. */
  billedMs: {
    'api-create-payment': RUN_SECONDS['api-create-payment'] * 1_000,
    'receive-provider-callback': RUN_SECONDS['receive-provider-callback'] * 1_000,
    'deliver-webhook': deployedStage('prod').deliveries.attemptMs,
    'api-get-payment': RUN_SECONDS['api-get-payment'] * 1_000,
    'check-due-work': 400,
    'check-due-payments': 800,
    'sync-provider-transactions': 600,
    'sweep-settlements': 300,
    'settle-client': 600,
  },
  /** Of the probe, and of each request that it makes. */
  probedMs: { probe: 500, balance: 30 },
  /** Of all audits of one payment in its first month. */
  auditedMs: 1,
  /**
   * How often the sync looks at a transaction beside the run that makes its fee final: the head
   * reads seven minutes every five, so 1.4 times after the capture and 0.4 times more after the
   * settlement. That run also has the tail and the second net, each once.
   */
  syncLooks: 1.8,
  /**
   * Invocations of one warm environment. While it keeps a secret, its invocations share one reading
   * of the secret.
   */
  invocationsPerMinute: 10,
  /** Lambda keeps asking an idle queue: five pollers, each waiting 20 seconds for an answer. */
  pollsPerQueueMinute: 15,
  /** Bytes of one webhook over NAT, both ways, with its TLS handshake. */
  webhookBytes: 8_000,
} as const

/**
 * Bytes that AWS itself logs for a request, in the API's access log and the front's: the names of
 * their fields, and values of the usual length with their quotes in JSON.
 */
export const ACCESS_LINE_BYTES = [...Object.keys(ACCESS_LOG_FIELDS), ...FRONT_LOG_FIELDS].reduce(
  (sum, field) => sum + field.length + 15,
  0,
)

/** What a merchant sends: its own fields are some 150 bytes. */
export const PAYMENT_BODY = JSON.stringify({
  method: 'virtual_account',
  channel_code: 'BCA',
  amount: 150_000,
  currency: 'IDR',
  external_reference: 'order-2026-000001',
  description: 'Two coffees and a slice of cake',
  customer: { name: 'Sri Wahyuni', email: 'sri@example.com' },
})
