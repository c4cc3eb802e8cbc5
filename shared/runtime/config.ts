import * as v from 'valibot'
import { byQueue, type QueueName } from '../queues.ts'
import { PROVIDER_FEES, type StageSettings } from '../stage-settings.ts'
import type { CallLimits } from './aws/client-options.ts'

/** Names of the environment variables, shared with the stack so that both sides agree. */
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

const QueueUrlSchema = v.optional(v.pipe(v.string(), v.url()))

const Count = v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,6}$/), v.transform(Number)))

const EnvironmentSchema = v.object({
  [ENV.stage]: v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,20}$/)),
  // A picklist instead of a flag: a misspelt value stops the function and does not open the stage.
  [ENV.role]: v.optional(v.picklist(['open', 'closed']), 'open'),
  [ENV.table]: v.pipe(v.string(), v.minLength(1)),
  // A function gets only what its manifest entry names; other uses throw.
  [ENV.alertsTopic]: v.optional(v.string()),
  [ENV.sealKey]: v.optional(v.pipe(v.string(), v.minLength(1))),
  [ENV.providerUrl]: v.optional(v.pipe(v.string(), v.url())),
  [ENV.defaultReturnUrl]: v.optional(v.pipe(v.string(), v.url()), 'https://example.com/'),
  [ENV.defaultDisplayName]: v.optional(v.pipe(v.string(), v.minLength(1)), 'Payment'),
  [ENV.front]: v.optional(v.picklist(['none', 'cloudfront']), 'none'),
  [ENV.domain]: v.optional(v.pipe(v.string(), v.minLength(1))),
  [ENV.webhookEgress]: v.optional(v.picklist(['public', 'nat']), 'public'),
  [ENV.providerFees]: v.optional(v.picklist(PROVIDER_FEES), 'deducted'),
  [ENV.clientRateLimit]: Count,
  [ENV.clientCreateLimit]: Count,
  [ENV.environments]: Count,
  [ENV.providerCalls]: Count,
  [ENV.keyLifetime]: Count,
  [ENV.callTries]: Count,
  [ENV.callTimeout]: Count,
})

/** Reads the environment of a deployed function. Throws at start and names the invalid variable. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>) => {
  const env = v.parse(EnvironmentSchema, environment)
  const stage: StageSettings = {
    name: env[ENV.stage],
    isClosed: env[ENV.role] === 'closed',
    // Not configurable: only the local gateway sets it.
    allowLoopbackWebhooks: false,
    defaultReturnUrl: env[ENV.defaultReturnUrl],
    defaultDisplayName: env[ENV.defaultDisplayName],
    behindFront: env[ENV.front] !== 'none',
    httpsPortOnly: env[ENV.webhookEgress] === 'nat',
    hasDomain: env[ENV.domain] !== undefined,
    providerFees: env[ENV.providerFees],
    clientRateLimit: env[ENV.clientRateLimit],
    clientCreateLimit: env[ENV.clientCreateLimit],
    environments: env[ENV.environments],
    providerCallsPerMinute: env[ENV.providerCalls],
    keyLifetimeDays: env[ENV.keyLifetime],
  }
  return {
    stage,
    tableName: env[ENV.table],
    // Undefined: each AWS client's default.
    calls: callLimits(env[ENV.callTries], env[ENV.callTimeout]),
    queueUrls: byQueue((name) => v.parse(QueueUrlSchema, environment[queueUrlVariable(name)])),
    alertsTopicArn: env[ENV.alertsTopic],
    sealKeyArn: env[ENV.sealKey],
    providerUrl: env[ENV.providerUrl],
  }
}

const callLimits = (tries: number | undefined, timeoutMs: number | undefined): CallLimits | undefined =>
  tries === undefined || timeoutMs === undefined ? undefined : { tries, timeoutMs }
