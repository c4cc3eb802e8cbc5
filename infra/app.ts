import { App } from 'aws-cdk-lib'
import { GatewayStack } from './gateway-stack.ts'
import { DEFAULT_STAGE, deployedStage } from './stage.ts'

/** `cdk synth -c stage=<name>`; without a name it is the development stage. */
const app = new App()
const stage = deployedStage(String(app.node.tryGetContext('stage') ?? DEFAULT_STAGE))

new GatewayStack(app, `gateway-${stage.settings.name}`, { stage })
