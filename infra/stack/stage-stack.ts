import { type App, ArnFormat, type RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct, IConstruct } from 'constructs'
import { type DeployedStage, stackNameOf } from './stage.ts'

export function tagsOf({ settings }: DeployedStage) {
  return { service: 'payment-gateway', stage: settings.name }
}

type Props = StackProps & { readonly part?: string; readonly holds?: string }

/** A stack with the name, description and tags of its stage. */
export class StageStack extends Stack {
  constructor(scope: App, stage: DeployedStage, { part, holds, ...props }: Props) {
    super(scope, stackNameOf(stage, part), {
      description: `Payment gateway, stage ${stage.settings.name}${holds === undefined ? '' : `: ${holds}`}`,
      tags: tagsOf(stage),
      ...props,
    })
  }
}

/**
 * The ARN of a resource in the stack's account, by its name: `function:gateway-dev-settle-client`.
 * Without `region` it is in the stack's own.
 */
export function arnOf(scope: IConstruct, service: string, resource: string, region?: string) {
  const arnFormat = ArnFormat.NO_RESOURCE_NAME
  return Stack.of(scope).formatArn({ service, resource, region, arnFormat })
}

export function addLog(
  scope: Construct,
  logGroupName: string,
  removalPolicy: RemovalPolicy,
  id = 'Log',
) {
  return new LogGroup(scope, id, {
    logGroupName,
    retention: RetentionDays.TWO_WEEKS,
    removalPolicy,
  })
}

/** Without the `:*` that CloudFormation appends. */
export function bareArn(log: LogGroup) {
  return arnOf(log, 'logs', `log-group:${log.logGroupName}`)
}
