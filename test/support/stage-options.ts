import { join } from 'node:path'
import { type DeployedStage, deployedStage, type StageDomain } from '../../infra/stack/stage.ts'

export const DOMAIN: StageDomain = {
  name: 'api.pay.example',
  zone: { name: 'pay.example', id: 'Z0000000000EXAMPLE' },
}

/** A stage with some of its options changed. */
export const stageWith = (options: Partial<DeployedStage>, name = 'dev'): DeployedStage => ({
  ...deployedStage(name),
  ...options,
})

/** Production with everything that a deployment wants named. */
export const READY_PRODUCTION: DeployedStage = stageWith(
  {
    settings: { ...deployedStage('prod').settings, defaultReturnUrl: 'https://gateway.example.org/paid' },
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

/** One stage for each option that is off by default, each alone and then all of them, as a deployment may combine them. */
export const OPTIONAL_STAGES: Readonly<Record<string, DeployedStage>> = {
  dev: stageWith({}),
  prod: stageWith({}, 'prod'),
  'dev with a domain': stageWith({ domain: DOMAIN }),
  'dev behind CloudFront': stageWith({ domain: DOMAIN, front: 'cloudfront' }),
  'dev with fixed addresses': stageWith({ webhookEgress: 'nat' }),
  'dev with canaries': stageWith({ deployment: 'canary' }),
  'dev with aliases alone': stageWith({ deployment: 'alias-only' }),
  'prod without a front': stageWith({ domain: undefined, front: 'none' }, 'prod'),
  'prod with everything': { ...READY_PRODUCTION, webhookEgress: 'nat' },
}
