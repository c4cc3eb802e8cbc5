import type { App } from 'aws-cdk-lib'
import { DataStack } from './data-stack.ts'
import { FrontStack } from './edge/front-stack.ts'
import { GatewayStack } from './gateway-stack.ts'
import { WatchStack } from './monitoring/watch-stack.ts'
import { OperatorsStack } from './operators-stack.ts'
import {
  dataStackNameOf,
  frontStackNameOf,
  operatorsStackNameOf,
  stackNameOf,
  watchStackNameOf,
} from './stack-name-of.ts'
import type { DeployedStage } from './stage.ts'

/**
 * The stacks of a stage, in the order of a first deployment. Each later deploys by itself: a stack reads what an earlier
 * one tells, and locks nothing there.
 */
export const addStacks = (app: App, stage: DeployedStage): void => {
  const data = new DataStack(app, dataStackNameOf(stage), { stage })
  const gateway = new GatewayStack(app, stackNameOf(stage), { stage, data })
  new OperatorsStack(app, operatorsStackNameOf(stage), { stage, data })
  new WatchStack(app, watchStackNameOf(stage), { stage, data, gateway })
  if (stage.front === 'cloudfront') {
    // The front reads the copy of a secret that the data stack makes, and calls the gateway's API.
    new FrontStack(app, frontStackNameOf(stage), { stage }).addStackDependency(gateway)
  }
}
