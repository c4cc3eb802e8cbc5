import type { App } from 'aws-cdk-lib'
import { DataStack } from './data-stack.ts'
import { FrontStack } from './front-stack.ts'
import { GatewayStack } from './gateway-stack.ts'
import { OperatorsStack } from './operators-stack.ts'
import type { DeployedStage } from './stage.ts'
import { CopiesStack } from './storage/table-copies.ts'
import { WatchStack } from './watch-stack.ts'

/**
 * Adds a stage's stacks in the order of a first deployment. Later each can be deployed alone:
 * stacks refer to earlier ones by name, and no export locks an earlier stack.
 */
export function addStacks(app: App, stage: DeployedStage) {
  const data = new DataStack(app, stage)
  const gateway = new GatewayStack(app, stage, data)
  new OperatorsStack(app, stage, data)
  new WatchStack(app, stage, { data, gateway })
  // Backups are copied at night, so the vault may come after the table.
  if (stage.copies) new CopiesStack(app, stage, stage.copies)
  // The front reads a copy of the data stack's secret, and calls the gateway's API.
  if (stage.front === 'cloudfront') new FrontStack(app, stage).addStackDependency(gateway)
}
