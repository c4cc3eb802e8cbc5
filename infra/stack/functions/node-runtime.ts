import type { RemovalPolicy } from 'aws-cdk-lib'
import { type PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { roleWith } from '../allow.ts'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'
import { addLog } from '../stage-stack.ts'
import { NODE_MAJOR } from './node-major.ts'

export function nodeRuntime(
  scope: Construct,
  {
    stage,
    functionName,
    removalPolicy = removalPolicyBesidesTable(stage),
  }: {
    readonly stage: DeployedStage
    readonly functionName: string
    /** Of the log. */
    readonly removalPolicy?: RemovalPolicy
  },
  grants: (logGroup: LogGroup) => PolicyStatement[],
) {
  const logGroup = addLog(scope, `/aws/lambda/${functionName}`, removalPolicy)
  return {
    functionName,
    logGroup,
    role: roleWith(scope, new ServicePrincipal('lambda.amazonaws.com'), grants(logGroup)),
    handler: 'index.handler',
    runtime: new lambda.Runtime(`nodejs${NODE_MAJOR}.x`, lambda.RuntimeFamily.NODEJS),
    architecture: lambda.Architecture.ARM_64,
    loggingFormat: lambda.LoggingFormat.JSON,
    applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
    // Lambda writes its own lines only for runs that failed.
    systemLogLevelV2: lambda.SystemLogLevel.WARN,
    // X-Ray stays off: its SDK costs 127 kB and 30 ms of every start, and HTTP APIs have no traces.
    // The log has a line for each outcome, with the ids of payment, event and delivery.
    tracing: lambda.Tracing.DISABLED,
  }
}
