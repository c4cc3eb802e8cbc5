import type { App } from 'aws-cdk-lib'
import { MANIFEST } from '../../functions/manifest.ts'
import type { DataStack } from './data-stack.ts'
import { DutyPolicies } from './functions/duty-policies.ts'
import { GatewayFunctions } from './functions/gateway-functions.ts'
import { OnCallPolicy } from './functions/on-call-policy.ts'
import { InvocationTrail } from './monitoring/invocation-trail.ts'
import type { DeployedStage } from './stage.ts'
import { StageStack } from './stage-stack.ts'
import { encryptLogs } from './storage/stage-key.ts'

/**
 * The functions that operators invoke, the policies of their duties, and the record of who invoked
 * what.
 */
export class OperatorsStack extends StageStack {
  constructor(scope: App, stage: DeployedStage, data: DataStack) {
    super(scope, stage, { part: 'operators', holds: 'functions and policies of operators' })
    encryptLogs(this, data.key)
    const specs = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')
    const functions = new GatewayFunctions(this, 'Functions', specs, { stage, data })
    new DutyPolicies(this, 'Duties', { stage, data })
    new OnCallPolicy(this, 'OnCall', { stage, data })
    if (stage.invocationTrail) new InvocationTrail(this, 'InvocationTrail', stage, functions)
  }
}
