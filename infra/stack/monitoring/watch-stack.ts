import type { App } from 'aws-cdk-lib'
import type { DataStack } from '../data-stack.ts'
import type { GatewayStack } from '../gateway-stack.ts'
import type { DeployedStage } from '../stage.ts'
import { StageStack } from '../stage-stack.ts'
import { alarmTable } from './alarms/alarm-table.ts'
import { GatewayAlarms } from './gateway-alarms.ts'
import { GatewayDashboard } from './gateway-dashboard.ts'

/**
 * Alarms and dashboard. The stack keeps no data, so it may be deleted, and deployed again after the
 * stacks that it watches.
 */
export class WatchStack extends StageStack {
  constructor(
    scope: App,
    stage: DeployedStage,
    {
      data: { topic, pageTopic },
      gateway,
    }: { readonly data: DataStack; readonly gateway: GatewayStack },
  ) {
    super(scope, stage, { part: 'watch', holds: 'alarms and dashboard' })
    this.addStackDependency(gateway)
    const { watched } = gateway
    const pages = pageTopic
      ? new GatewayAlarms(this, 'Alarms', {
          stage: watched.stage,
          groups: alarmTable(watched),
          quietId: 'quiet',
          topic,
          pageTopic,
        }).pages
      : []
    new GatewayDashboard(this, 'Dashboard', { watched, pages })
  }
}
