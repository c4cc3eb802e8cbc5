import * as v from 'valibot'
import { byQueue, type QueueName } from '../queues.ts'
import { PROVIDER_FEES, type StageSettings } from '../stage-settings.ts'
import type { CallLimits } from './aws/client-options.ts'

/** Names of the environment variables. The stack sets them by this list. */
export const ENV = {
  stage: 'GATEWAY_STAGE',
  role: 'GATEWAY_ROLE',
  table: 'GATEWAY_TABLE',
  alertsTopic: 'GATEWAY_ALERTS_TOPIC_ARN',
  sealKey: 'GATEWAY_SEAL_KEY_ARN',
  providerUrl: 'GATEWAY_PROVIDER_URL',
  defaultReturnUrl: 'GATEWAY_DEFAULT_RETURN_URL',
  defaultDisplayName: 'GATEWAY_DEFAULT_DISPLAY_NAME',
  front: 'GATEWAY_FRONT',
  webhookEgress: 'GATEWAY_WEBHOOK_EGRESS',
  domain: 'GATEWAY_DOMAIN',
  providerFees: 'GATEWAY_PROVIDER_FEES',
  clientRateLimit: 'GATEWAY_CLIENT_RATE_LIMIT',
  clientCreateLimit: 'GATEWAY_CLIENT_CREATE_LIMIT',
  environments: 'GATEWAY_ENVIRONMENTS',
  providerCalls: 'GATEWAY_PROVIDER_CALLS_PER_MINUTE',
  keyLifetime: 'GATEWAY_KEY_LIFETIME_DAYS',
  callTries: 'GATEWAY_CALL_TRIES',
  callTimeout: 'GATEWAY_CALL_TIMEOUT_MS',
} as const

export const queueUrlVariable = (name: QueueName): string => `GATEWAY_${name.replace('-', '_').toUpperCase()}_QUEUE_URL`

const Filled = v.pipe(v.string(), v.minLength(1))
const Url = v.pipe(v.string(), v.url())
const Count = v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,6}$/), v.transform(Number)))

/** Reads the environment of a deployed function. Throws at start and names the invalid variable. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>) => {
  const read = <const Schema extends v.GenericSchema>(name: string, schema: Schema): v.InferOutput<Schema> => {
    const { success, output, issues } = v.safeParse(schema, environment[name])
    if (success) return output
    throw new Error(`${name}: ${issues[0].message}`)
  }
  const stage: StageSettings = {
    name: read(ENV.stage, v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,20}$/))),
    // Not a flag: a misspelt value must stop the function, and must not open the stage.
    isClosed: read(ENV.role, v.optional(v.picklist(['open', 'closed']), 'open')) === 'closed',
    // Not configurable: only the local gateway sets it.
    allowLoopbackWebhooks: false,
    defaultReturnUrl: read(ENV.defaultReturnUrl, v.optional(Url, 'https://example.com/')),
    defaultDisplayName: read(ENV.defaultDisplayName, v.optional(Filled, 'Payment')),
    behindFront: read(ENV.front, v.optional(v.picklist(['none', 'cloudfront']), 'none')) !== 'none',
    httpsPortOnly: read(ENV.webhookEgress, v.optional(v.picklist(['public', 'nat']), 'public')) === 'nat',
    hasDomain: read(ENV.domain, v.optional(Filled)) !== undefined,
    providerFees: read(ENV.providerFees, v.optional(v.picklist(PROVIDER_FEES), 'deducted')),
    clientRateLimit: read(ENV.clientRateLimit, Count),
    clientCreateLimit: read(ENV.clientCreateLimit, Count),
    environments: read(ENV.environments, Count),
    providerCallsPerMinute: read(ENV.providerCalls, Count),
    keyLifetimeDays: read(ENV.keyLifetime, Count),
  }
  const [tries, timeoutMs] = [read(ENV.callTries, Count), read(ENV.callTimeout, Count)]
  return {
    stage,
    tableName: read(ENV.table, Filled),
    calls: tries === undefined || timeoutMs === undefined ? undefined : ({ tries, timeoutMs } satisfies CallLimits),
    queueUrls: byQueue((name) => read(queueUrlVariable(name), v.optional(Url))),
    alertsTopicArn: read(ENV.alertsTopic, v.optional(v.string())),
    sealKeyArn: read(ENV.sealKey, v.optional(Filled)),
    providerUrl: read(ENV.providerUrl, v.optional(Url)),
  }
}
