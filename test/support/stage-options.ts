import { type DeployedStage, deployedStage, type StageDomain } from '../../infra/stage.ts'

export const DOMAIN: StageDomain = {
  name: 'api.pay.example',
  zone: { name: 'pay.example', id: 'Z0000000000EXAMPLE' },
}

/** A stage with some of its options changed. */
export const stageWith = (options: Partial<DeployedStage>, name = 'dev'): DeployedStage => ({
  ...deployedStage(name),
  ...options,
})

/** One stage for each option that is off by default, each alone and then all of them, as a deployment may combine them. */
export const OPTIONAL_STAGES: Readonly<Record<string, DeployedStage>> = {
  dev: stageWith({}),
  prod: stageWith({}, 'prod'),
  'dev with a domain': stageWith({ domain: DOMAIN }),
  'dev behind CloudFront': stageWith({ domain: DOMAIN, front: 'cloudfront' }),
  'dev with fixed addresses': stageWith({ webhookEgress: 'nat' }),
  'dev with canaries': stageWith({ deployment: 'canary' }),
  'dev with aliases alone': stageWith({ deployment: 'alias-only' }),
  'prod with everything': stageWith({ domain: DOMAIN, front: 'cloudfront', webhookEgress: 'nat' }, 'prod'),
}
