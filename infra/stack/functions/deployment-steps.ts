import { CustomResource, Duration } from 'aws-cdk-lib'
import { Construct } from 'constructs'
import type { GatewayFunctions } from './gateway-functions.ts'

/** How long a deployment waits for a step that does not answer; CloudFormation's own limit is an hour. */
const STEP_TIMEOUT = Duration.minutes(5)

/**
 * What a deployment does before any function changes: each function of the manifest that a deployment runs is a resource
 * of the stack, and all others wait for it. When it fails nothing has changed yet, and CloudFormation goes back.
 */
export class DeploymentSteps extends Construct {
  constructor(scope: Construct, id: string, functions: GatewayFunctions) {
    super(scope, id)
    for (const { spec, lambda } of functions.triggeredBy('deployment')) {
      const step = new CustomResource(this, spec.name, {
        resourceType: 'Custom::DeploymentStep',
        serviceToken: lambda.functionArn,
        serviceTimeout: STEP_TIMEOUT,
      })
      for (const later of functions.exceptTriggeredBy('deployment')) later.node.addDependency(step)
    }
  }
}
