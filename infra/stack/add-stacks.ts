import type { App } from 'aws-cdk-lib'
import { DataStack } from './data-stack.ts'
import { FrontStack } from './edge/front-stack.ts'
import { GatewayStack } from './gateway-stack.ts'
import { WatchStack } from './monitoring/watch-stack.ts'
import { OperatorsStack } from './operators-stack.ts'
import type { DeployedStage } from './stage.ts'
import { CopiesStack } from './storage/table-copies.ts'

/**
 * Adds the stacks of a stage, in the order of a first deployment. Later each stack can be deployed
 * alone: a stack refers to earlier stacks by names, and no export locks an earlier stack.
 */
export function addStacks(app: App, stage: DeployedStage): void {
  const data = new DataStack(app, stage)
  const gateway = new GatewayStack(app, stage, data)
  new OperatorsStack(app, stage, data)
  new WatchStack(app, stage, { data, gateway })
  // Backups are copied at night, so the vault may come after the table.
  if (stage.copies) new CopiesStack(app, stage, stage.copies)
  // The front reads the copy of a secret that the data stack makes, and calls the gateway's API.
  if (stage.front === 'cloudfront') new FrontStack(app, stage).addStackDependency(gateway)
}
