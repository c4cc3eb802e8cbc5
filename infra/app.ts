import { App } from 'aws-cdk-lib'
import { addStacks } from './stack/add-stacks.ts'
import { DEFAULT_STAGE, deployedStage } from './stack/stage.ts'

/** `cdk synth -c stage=<name>`; without a name it is the development stage. */
const app = new App()
addStacks(app, deployedStage(String(app.node.tryGetContext('stage') ?? DEFAULT_STAGE)))
