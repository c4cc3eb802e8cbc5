import { join } from 'node:path'
import { routeKeyOf } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { type DeployedStage, deployedStage } from '../../infra/stack/stage.ts'
import type { StageDomain } from '../../infra/stack/stage-file.ts'

export const DOMAIN: StageDomain = {
  name: 'api.pay.example',
  zone: { name: 'pay.example', id: 'Z0000000000EXAMPLE' },
}

export function stageWith(options: Partial<DeployedStage>, name = 'dev') {
  return { ...deployedStage(name), ...options }
}

/** A stage without any default figure, deployed like dev. */
export const OTHER_FIGURES: DeployedStage = stageWith({
  settings: {
    ...deployedStage('dev').settings,
    providerFees: 'invoiced',
    providerCallsPerMinute: 6_000,
    clientRateLimit: 1,
    clientCreateLimit: 1,
  },
  sweepAtUtc: { hour: 17, minute: 30 },
  routeThrottles: Object.fromEntries(
    MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? []).map((route) => [
      route,
      { requestsPerSecond: 7, burst: 7 },
    ]),
  ),
  table: {
    ...deployedStage('dev').table,
    maxReadUnits: 2_000,
    maxWriteUnits: 4_000,
    warm: { readUnits: 12_000, writeUnits: 4_000 },
  },
})

/** A closed stage on a restored table, which its stack does not contain. */
export const RESTORED = stageWith({
  role: 'closed',
  table: { ...deployedStage('dev').table, generation: 2 },
})

/** A stage that may lose its data, and still has alarms, because it names recipients. */
export const NAMED = stageWith({
  invocationTrail: true,
  alarmRecipients: ['ops@gateway.example'],
  pageRecipients: ['https://pager.example/sns', 'on-call@gateway.example'],
})

const prod = deployedStage('prod')

/** Production with this quota, and with all limits of the API raised to accept as many payments. */
function atQuota(providerCallsPerMinute: number, options: Partial<DeployedStage>) {
  return stageWith(
    {
      settings: { ...prod.settings, providerCallsPerMinute },
      routeThrottles: {
        ...prod.routeThrottles,
        'POST /v1/payments': {
          requestsPerSecond: providerCallsPerMinute / 60,
          burst: providerCallsPerMinute / 30,
        },
      },
      ...options,
    },
    'prod',
  )
}

export const QUOTA_STAGES: readonly (readonly [factor: number, stage: DeployedStage])[] = [
  [1, prod],
  [
    10,
    atQuota(6_000, { table: { ...prod.table, warm: { readUnits: 12_000, writeUnits: 5_000 } } }),
  ],
  [
    100,
    atQuota(60_000, {
      table: {
        ...prod.table,
        maxReadUnits: 30_000,
        maxWriteUnits: 45_000,
        warm: { readUnits: 30_000, writeUnits: 45_000 },
      },
      reservedConcurrency: {
        ...prod.reservedConcurrency,
        'api-create-payment': 1_000,
        'receive-provider-callback': 450,
      },
      accountConcurrency: 3_000,
    }),
  ],
]

export const READY_PRODUCTION: DeployedStage = stageWith(
  {
    settings: {
      ...deployedStage('prod').settings,
      defaultReturnUrl: 'https://gateway.example.org/paid',
    },
    location: { account: '000000000000', region: 'ap-southeast-3' },
    alarmRecipients: ['oncall@gateway.example.org'],
    domain: { name: 'pay.example.org', zone: { name: 'example.org', id: 'Z1' } },
    frontSettings: {
      ...deployedStage('prod').frontSettings,
      originCertificate: {
        id: '11111111-2222-4333-8444-555555555555',
        authority: join(import.meta.dirname, 'origin-authority.pem'),
      },
    },
  },
  'prod',
)

export const EVERYTHING: DeployedStage = { ...READY_PRODUCTION, webhookEgress: 'nat' }

/**
 * One stage for each option that is off by default, each alone and then all of them, as a
 * deployment may combine them.
 */
export const OPTIONAL_STAGES: Readonly<Record<string, DeployedStage>> = {
  dev: stageWith({}),
  prod: stageWith({}, 'prod'),
  'dev with a domain': stageWith({ domain: DOMAIN, frontSettings: READY_PRODUCTION.frontSettings }),
  'dev behind CloudFront': stageWith({ domain: DOMAIN, front: 'cloudfront' }),
  'dev with fixed addresses': stageWith({ webhookEgress: 'nat' }),
  'dev with canaries': stageWith({ deployment: 'canary' }),
  'dev with aliases alone': stageWith({ deployment: 'alias-only' }),
  'prod without a front': stageWith(
    { domain: undefined, front: 'none', monthlyBudgetUsd: undefined },
    'prod',
  ),
  'prod with everything': EVERYTHING,
}
