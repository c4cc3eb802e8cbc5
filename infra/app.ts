import { App } from 'aws-cdk-lib'
import { FrontStack } from './front-stack.ts'
import { GatewayStack } from './gateway-stack.ts'
import { DEFAULT_STAGE, deployedStage } from './stage.ts'

/** `cdk synth -c stage=<name>`; without a name it is the development stage. */
const app = new App()
const stage = deployedStage(String(app.node.tryGetContext('stage') ?? DEFAULT_STAGE))
const name = `gateway-${stage.settings.name}`

const gateway = new GatewayStack(app, name, { stage })
if (stage.front === 'cloudfront') {
  // The front reads the copy of a secret that the gateway's stack makes, and calls its API.
  new FrontStack(app, `${name}-front`, { stage }).addDependency(gateway)
}
