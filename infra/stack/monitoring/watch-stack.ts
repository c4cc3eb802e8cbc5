import { type App, Stack } from 'aws-cdk-lib'
import type { DataStack } from '../data-stack.ts'
import type { GatewayStack } from '../gateway-stack.ts'
import type { DeployedStage } from '../stage.ts'
import { GatewayAlarms } from './gateway-alarms.ts'
import { GatewayDashboard } from './gateway-dashboard.ts'

/**
 * Alarms and dashboard. It keeps no data, so it may be deleted and deployed again, after the stacks that it watches.
 */
export class WatchStack extends Stack {
  constructor(
    scope: App,
    id: string,
    {
      stage,
      data,
      gateway,
    }: { readonly stage: DeployedStage; readonly data: DataStack; readonly gateway: GatewayStack },
  ) {
    super(scope, id, {
      description: `Payment gateway, stage ${stage.settings.name}: alarms and dashboard`,
      tags: { service: 'payment-gateway', stage: stage.settings.name },
    })
    this.addStackDependency(gateway)
    const { watched } = gateway
    const { topic, pageTopic } = data
    const pages = pageTopic ? new GatewayAlarms(this, 'Alarms', { watched, topic, pageTopic }).pages : []
    new GatewayDashboard(this, 'Dashboard', { watched, pages })
  }
}
