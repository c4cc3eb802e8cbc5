import type { App } from 'aws-cdk-lib'
import { FrontStack } from './edge/front-stack.ts'
import { GatewayStack } from './gateway-stack.ts'
import { WatchStack } from './monitoring/watch-stack.ts'
import { frontStackNameOf, stackNameOf, watchStackNameOf } from './stack-name-of.ts'
import type { DeployedStage } from './stage.ts'

/** The stacks of a stage: `gateway-<stage>`, then `-watch`, and `-front` if CloudFront is in front of it. */
export const addStacks = (app: App, stage: DeployedStage): void => {
  const gateway = new GatewayStack(app, stackNameOf(stage), { stage })
  new WatchStack(app, watchStackNameOf(stage), { stage, gateway })
  if (stage.front === 'cloudfront') {
    // The front reads the copy of a secret that the gateway's stack makes, and calls its API.
    new FrontStack(app, frontStackNameOf(stage), { stage }).addStackDependency(gateway)
  }
}
