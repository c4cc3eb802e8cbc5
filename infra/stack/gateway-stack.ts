import { type App, CfnOutput, Stack } from 'aws-cdk-lib'
import type { CompositeAlarm } from 'aws-cdk-lib/aws-cloudwatch'
import type { Key } from 'aws-cdk-lib/aws-kms'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { callbackSecretName, providerSecretName } from '../../shared/secrets.ts'
import { assertDeployable } from './assert-deployable.ts'
import { ApiDomain } from './edge/api-domain.ts'
import { OriginSecret } from './edge/origin-secret.ts'
import { CanaryDeployments } from './functions/canary-deployments.ts'
import { DeploymentSteps } from './functions/deployment-steps.ts'
import { GatewayFunctions } from './functions/gateway-functions.ts'
import type { Watched } from './monitoring/alarms/watched.ts'
import { GatewayAlarms } from './monitoring/gateway-alarms.ts'
import { GatewayDashboard } from './monitoring/gateway-dashboard.ts'
import { OperatorTopic } from './monitoring/operator-topic.ts'
import { watchedStack } from './monitoring/watched-stack.ts'
import { WebhookEgress } from './network/webhook-egress.ts'
import { type DeployedStage, hasAlarms } from './stage.ts'
import { CustomerKey } from './storage/customer-key.ts'
import { GatewayTable } from './storage/gateway-table.ts'
import { ProviderSecrets } from './storage/provider-secrets.ts'
import { assertCarried } from './storage/table-capacity.ts'
import { EventSources } from './triggers/event-sources.ts'
import { GatewayHttpApi } from './triggers/gateway-http-api.ts'
import { GatewayQueues } from './triggers/gateway-queues.ts'
import { Schedules } from './triggers/schedules.ts'

/** The payment gateway on AWS: what it keeps, what runs, and what starts it. Functions come from the manifest. */
export class GatewayStack extends Stack {
  constructor(scope: App, id: string, { stage }: { readonly stage: DeployedStage }) {
    assertDeployable(stage)
    assertCarried(stage)
    super(scope, id, {
      description: `Payment gateway, stage ${stage.settings.name}`,
      terminationProtection: stage.deletionProtection,
      tags: { service: 'payment-gateway', stage: stage.settings.name },
    })

    const key = stage.table.encryption === 'customer' ? new CustomerKey(this, 'Key', stage).key : undefined
    const { table } = new GatewayTable(this, 'Table', stage, key)
    const queues = new GatewayQueues(this, 'Queues', stage, key)
    const { alarmRecipients: recipients } = stage
    const { topic } = new OperatorTopic(this, 'Alerts', { stage, name: 'alerts', recipients, key })
    const provider = new ProviderSecrets(this, 'Provider', stage, key)

    const functions = new GatewayFunctions(this, 'Functions', {
      stage,
      key,
      table,
      queues,
      topic,
      provider,
      originSecret: stage.front === 'none' ? undefined : new OriginSecret(this, 'Origin', stage).secret,
      egress: stage.webhookEgress === 'nat' ? new WebhookEgress(this, 'WebhookEgress', { stage, table }) : undefined,
    })
    new DeploymentSteps(this, 'Steps', functions)

    const httpApi = new GatewayHttpApi(this, 'HttpApi', { stage, functions })
    if (stage.domain) new ApiDomain(this, 'Domain', { stage, domain: stage.domain, httpApi })
    if (stage.deployment === 'canary') new CanaryDeployments(this, 'Canary', { stage, functions, api: httpApi.api })
    new EventSources(this, 'EventSources', { table, queues, functions })
    new Schedules(this, 'Schedules', { stage, queues, functions })

    const watched = watchedStack({ stage, table, queues, api: httpApi.api })
    const pages = hasAlarms(stage) ? this.watch(stage, { watched, topic, key }) : []
    new GatewayDashboard(this, 'Dashboard', { watched, pages })

    const { name } = stage.settings
    const url = stage.domain ? `https://${stage.domain.name}` : httpApi.api.apiEndpoint
    this.output('ApiUrl', url, 'Base URL of the API; its paths start with /v1')
    this.output('AlertsTopicArn', topic.topicArn, 'Every alarm and alert: subscribe whoever reads them in the day')
    this.output('TableName', table.tableName, 'The one table')
    const [provided, shown] = [providerSecretName(name), callbackSecretName(name)]
    this.output('ProviderSecretName', provided, 'Put {"secret_key": "..."} here before the first payment')
    this.output('CallbackSecretName', shown, 'Put {"callback_tokens": ["..."]} here before the first payment')
  }

  private output(id: string, value: string, description: string): void {
    new CfnOutput(this, id, { value, description })
  }

  /** What may wait goes to the topic of alerts, what pages to a topic of its own: nobody is woken by a ticket. */
  private watch(
    stage: DeployedStage,
    { watched, topic, key }: { readonly watched: Watched; readonly topic: ITopic; readonly key: Key | undefined },
  ): readonly CompositeAlarm[] {
    const recipients = stage.pageRecipients ?? stage.alarmRecipients
    const { topic: pageTopic } = new OperatorTopic(this, 'Pages', { stage, name: 'pages', recipients, key })
    this.output('PagesTopicArn', pageTopic.topicArn, 'What wakes somebody, and nothing else: subscribe the pager')
    return new GatewayAlarms(this, 'Alarms', { watched, topic, pageTopic }).pages
  }
}
