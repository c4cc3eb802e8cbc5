import { type App, CfnOutput, Stack } from 'aws-cdk-lib'
import type { Key } from 'aws-cdk-lib/aws-kms'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { callbackSecretName, providerSecretName } from '../../shared/secrets.ts'
import { assertDeployable } from './assert-deployable.ts'
import { ApiDomain } from './edge/api-domain.ts'
import { OriginSecret } from './edge/origin-secret.ts'
import { CanaryDeployments } from './functions/canary-deployments.ts'
import { DutyPolicies } from './functions/duty-policies.ts'
import { GatewayFunctions } from './functions/gateway-functions.ts'
import type { Watched } from './monitoring/alarms/watched.ts'
import { InvocationTrail } from './monitoring/invocation-trail.ts'
import { OperatorTopic } from './monitoring/operator-topic.ts'
import { watchedStack } from './monitoring/watched-stack.ts'
import { WebhookEgress } from './network/webhook-egress.ts'
import { ReleaseProof } from './release/release-proof.ts'
import { type DeployedStage, hasAlarms } from './stage.ts'
import { GatewayTable } from './storage/gateway-table.ts'
import { ProviderSecrets } from './storage/provider-secrets.ts'
import { encryptsAll, StageKey } from './storage/stage-key.ts'
import { EventSources } from './triggers/event-sources.ts'
import { GatewayHttpApi } from './triggers/gateway-http-api.ts'
import { GatewayQueues } from './triggers/gateway-queues.ts'
import { Schedules } from './triggers/schedules.ts'

/** The payment gateway on AWS: what it keeps, what runs, and what starts it. Functions come from the manifest. */
export class GatewayStack extends Stack {
  /** What the second stack, of alarms and dashboard, looks at. */
  readonly watched: Watched
  readonly topic: ITopic
  /** Of a stage with alarms. */
  readonly pageTopic: ITopic | undefined

  constructor(scope: App, id: string, { stage }: { readonly stage: DeployedStage }) {
    assertDeployable(stage)
    super(scope, id, {
      description: `Payment gateway, stage ${stage.settings.name}`,
      terminationProtection: stage.deletionProtection,
      tags: { service: 'payment-gateway', stage: stage.settings.name },
    })

    const { key: sealKey } = new StageKey(this, 'Key', stage)
    const key = encryptsAll(stage) ? sealKey : undefined
    const { table } = new GatewayTable(this, 'Table', stage, key)
    const queues = new GatewayQueues(this, 'Queues', stage, key)
    const { alarmRecipients: recipients } = stage
    const { topic } = new OperatorTopic(this, 'Alerts', { stage, name: 'alerts', recipients, key })
    const provider = new ProviderSecrets(this, 'Provider', stage, key)

    const functions = new GatewayFunctions(this, 'Functions', {
      stage,
      key,
      sealKey,
      table,
      queues,
      topic,
      provider,
      originSecret: stage.front === 'none' ? undefined : new OriginSecret(this, 'Origin', stage).secret,
      egress: stage.webhookEgress === 'nat' ? new WebhookEgress(this, 'WebhookEgress', { stage, table }) : undefined,
    })
    const proof = new ReleaseProof(this, 'Release', { stage, functions })
    new DutyPolicies(this, 'Duties', { stage, provider, key })
    if (stage.invocationTrail) new InvocationTrail(this, 'InvocationTrail', { stage, functions })

    const httpApi = new GatewayHttpApi(this, 'HttpApi', { stage, functions })
    if (stage.domain) new ApiDomain(this, 'Domain', { stage, domain: stage.domain, httpApi })
    if (stage.deployment === 'canary') new CanaryDeployments(this, 'Canary', { stage, functions, api: httpApi.api })
    const triggers = { stage, queues, functions }
    proof.holdBack(new EventSources(this, 'EventSources', triggers), new Schedules(this, 'Schedules', triggers))

    this.watched = watchedStack({ stage, queues, api: httpApi.api })
    this.topic = topic
    this.pageTopic = this.pages(stage, key)

    this.output('ApiUrl', urlOf(stage, httpApi), 'Base URL of the API; its paths start with /v1')
    this.output('AlertsTopicArn', topic.topicArn, 'Every alarm and alert: subscribe whoever reads them in the day')
    this.output('PagesTopicArn', this.pageTopic?.topicArn, 'What wakes somebody, and nothing else: subscribe the pager')
    this.output('TableName', table.tableName, 'The one table')
    const secrets = [providerSecretName, callbackSecretName].map((nameIn) => nameIn(stage.settings.name))
    this.output('ProviderSecretName', secrets[0], 'Put {"secret_key": "..."} here before the first payment')
    this.output('CallbackSecretName', secrets[1], 'Put {"callback_tokens": ["..."]} here before the first payment')
  }

  /** What may wait goes to the topic of alerts, what pages to a topic of its own: nobody is woken by a ticket. */
  private pages(stage: DeployedStage, key: Key | undefined): ITopic | undefined {
    const pages = { stage, name: 'pages', recipients: stage.pageRecipients ?? stage.alarmRecipients, key } as const
    return hasAlarms(stage) ? new OperatorTopic(this, 'Pages', pages).topic : undefined
  }

  private output(id: string, value: string | undefined, description: string): void {
    if (value !== undefined) new CfnOutput(this, id, { value, description })
  }
}

const urlOf = ({ domain }: DeployedStage, { api }: GatewayHttpApi) =>
  domain ? `https://${domain.name}` : api.apiEndpoint
