import { type App, CfnOutput } from 'aws-cdk-lib'
import { MANIFEST } from '../../functions/manifest.ts'
import type { DataStack } from './data-stack.ts'
import { ApiDomain } from './edge/api-domain.ts'
import { CanaryDeployments } from './functions/canary-deployments.ts'
import { GatewayFunctions } from './functions/gateway-functions.ts'
import { type Watched, watchedStack } from './monitoring/watched-stack.ts'
import { WebhookEgress } from './network/webhook-egress.ts'
import { ReleaseProof } from './release/release-proof.ts'
import type { DeployedStage } from './stage.ts'
import { StageStack } from './stage-stack.ts'
import { encryptLogs } from './storage/stage-key.ts'
import { EventSources, Schedules } from './triggers/event-sources.ts'
import { GatewayHttpApi } from './triggers/gateway-http-api.ts'

/** Keeps no data. */
export class GatewayStack extends StageStack {
  readonly watched: Watched

  constructor(scope: App, stage: DeployedStage, data: DataStack) {
    // Merchants know the API's address, and the fixed addresses of webhooks.
    super(scope, stage, { terminationProtection: stage.deletionProtection })
    encryptLogs(this, data.key)
    const { queues, table } = data
    const egress =
      stage.webhookEgress === 'nat'
        ? new WebhookEgress(this, 'WebhookEgress', stage, table)
        : undefined
    const specs = MANIFEST.filter(({ trigger }) => trigger.kind !== 'operator')
    const functions = new GatewayFunctions(this, 'Functions', specs, { stage, data, egress })
    const proof = new ReleaseProof(this, 'Release', { stage, functions })

    const httpApi = new GatewayHttpApi(this, 'HttpApi', { stage, functions })
    const domain =
      stage.domain && new ApiDomain(this, 'Domain', { stage, domain: stage.domain, httpApi })
    if (stage.deployment === 'canary')
      new CanaryDeployments(this, 'Canary', { stage, functions, api: httpApi.api })
    const triggers = { stage, queues, functions }
    proof.holdBack(
      new EventSources(this, 'EventSources', triggers),
      new Schedules(this, 'Schedules', triggers),
    )

    this.watched = watchedStack(stage, httpApi.api.apiId, domain?.certificateArn)
    const value = stage.domain ? `https://${stage.domain.name}` : httpApi.api.apiEndpoint
    new CfnOutput(this, 'ApiUrl', {
      value,
      description: 'Base URL of the API; its paths start with /v1',
    })
  }
}
