import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as Target } from 'aws-cdk-lib/aws-events-targets'
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { allow } from '../allow.ts'
import { assetOf } from '../functions/assets-of.ts'
import { logGrant } from '../functions/grants.ts'
import { nodeRuntime } from '../functions/node-runtime.ts'
import { canaryKeySecretName, type DeployedStage, stackNameOf } from '../stage.ts'
import type { Probe } from './probe-front.ts'

/**
 * Calls the public name every minute, from the front's region: the gateway's alarms see only
 * requests that arrive there. A failed run is not repeated, because the next one follows.
 */
export class FrontProbe extends Construct {
  readonly functionName: string

  constructor(scope: Construct, id: string, stage: DeployedStage, host: string) {
    super(scope, id)
    const { name } = stage.settings
    // A kept name would prevent a new front.
    const removalPolicy = RemovalPolicy.DESTROY
    const secret = new Secret(this, 'CanaryKey', {
      secretName: canaryKeySecretName(name),
      description: 'JSON {"api_key"} of the canary merchant; filled in by an operator',
      removalPolicy,
    })
    this.functionName = stackNameOf(stage, 'probe-front')
    const props = { stage, functionName: this.functionName, removalPolicy }
    const probe = new LambdaFunction(this, 'Function', {
      ...nodeRuntime(this, props, (log) => [
        ...logGrant(log),
        ...allow(['secretsmanager:GetSecretValue'], [secret.secretArn]),
      ]),
      code: assetOf(stage, { name: 'probe-front', entry: 'infra/stack/edge/probe-front.ts' }),
      memorySize: 256,
      timeout: Duration.seconds(30),
      retryAttempts: 0,
    })
    const event: Probe = {
      host,
      unknownKey: unknownKey(name),
      keySecret: canaryKeySecretName(name),
    }
    new Rule(this, 'EveryMinute', {
      ruleName: this.functionName,
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new Target(probe, { event: RuleTargetInput.fromObject(event), retryAttempts: 0 })],
    })
  }
}
