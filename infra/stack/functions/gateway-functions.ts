import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { type FunctionSpec, retriesOf, type Trigger } from '../../../functions/function-spec.ts'
import { reservedConcurrency } from '../settings/reserved-concurrency.ts'
import { hasAlias, LIVE_ALIAS, stackNameOf } from '../stage.ts'
import { assetsOf } from './assets-of.ts'
import { environmentOf } from './environment.ts'
import { type GrantedResources, grantsOf } from './grants.ts'
import { nodeRuntime } from './node-runtime.ts'

export type GatewayFunction = {
  readonly spec: FunctionSpec
  readonly lambda: lambda.Function
  /**
   * The trigger invokes this: the function, or the alias that a deployment moves to a new version.
   */
  readonly live: lambda.IFunction
}

type Triggered<Kind extends Trigger['kind']> = GatewayFunction & {
  readonly trigger: Extract<Trigger, { readonly kind: Kind }>
}

export class GatewayFunctions extends Construct {
  readonly all: readonly GatewayFunction[]

  constructor(
    scope: Construct,
    id: string,
    specs: readonly FunctionSpec[],
    resources: GrantedResources,
  ) {
    super(scope, id)
    const assetOf = assetsOf(resources.stage)
    this.all = specs.map((spec) => gatewayFunction(this, spec, resources, assetOf(spec)))
  }

  triggeredBy<Kind extends Trigger['kind']>(kind: Kind): readonly Triggered<Kind>[] {
    return this.all.flatMap((made) => {
      const { trigger } = made.spec
      return isTrigger(trigger, kind) ? [{ ...made, trigger }] : []
    })
  }
}

function gatewayFunction(
  parent: Construct,
  spec: FunctionSpec,
  resources: GrantedResources,
  code: lambda.Code,
): GatewayFunction {
  const scope = new Construct(parent, spec.name)
  const { stage } = resources
  const functionName = stackNameOf(stage, spec.name)
  const isAliased = hasAlias(spec, stage)
  const lambdaFunction = new lambda.Function(scope, 'Function', {
    code,
    ...nodeRuntime(scope, { stage, functionName }, (logGroup) =>
      grantsOf(spec, resources, logGroup),
    ),
    memorySize: spec.memoryMb,
    timeout: Duration.seconds(spec.timeoutSeconds),
    environment: environmentOf(spec, resources),
    // Old versions are kept, so that an alias can move back (runbook). A rolled back version is
    // deleted: Lambda publishes the same code only once, so it would prevent the next try.
    currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    recursiveLoop:
      spec.recursive === true ? lambda.RecursiveLoop.ALLOW : lambda.RecursiveLoop.TERMINATE,
    ...reservedConcurrency(spec, stage),
    ...networkOf(spec, resources),
    ...(!isAliased && asyncOptions(spec, resources)),
  })
  if (!isAliased) return { spec, lambda: lambdaFunction, live: lambdaFunction }
  const version = { aliasName: LIVE_ALIAS, version: lambdaFunction.currentVersion }
  return {
    spec,
    lambda: lambdaFunction,
    live: new lambda.Alias(scope, 'Live', { ...version, ...asyncOptions(spec, resources) }),
  }
}

/** A function that calls merchants uses the stage's fixed addresses, if any. */
function networkOf({ callsMerchants }: FunctionSpec, { egress }: GrantedResources) {
  return egress && callsMerchants === true
    ? { vpc: egress.vpc, vpcSubnets: egress.subnets, securityGroups: [egress.securityGroup] }
    : {}
}

/** The next run does the work of a failed run. A daily run is retried within minutes. */
function asyncOptions(
  { trigger }: FunctionSpec,
  { data }: GrantedResources,
): lambda.EventInvokeConfigOptions {
  return trigger.kind === 'schedule'
    ? {
        retryAttempts: retriesOf(trigger.schedule),
        maxEventAge: Duration.seconds(trigger.schedule.maxEventAgeSeconds),
        onFailure: { bind: () => ({ destination: data.queues.deadRuns.queueArn }) },
      }
    : {}
}

function isTrigger<Kind extends Trigger['kind']>(
  trigger: Trigger,
  kind: Kind,
): trigger is Extract<Trigger, { readonly kind: Kind }> {
  return trigger.kind === kind
}
