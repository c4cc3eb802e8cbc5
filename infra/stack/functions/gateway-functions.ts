import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import {
  type FunctionSpec,
  functionName as nameOf,
  retriesOf,
  type Trigger,
} from '../../../functions/function-spec.ts'
import { hasAlias, LIVE_ALIAS } from '../stack-name-of.ts'
import { assetsOf } from './assets-of.ts'
import { environmentOf } from './environment.ts'
import { type GrantedResources, grantsOf } from './grants.ts'
import { nodeRuntime } from './node-runtime.ts'
import { reservedConcurrency } from './reserved-concurrency.ts'

export type GatewayFunction = {
  readonly spec: FunctionSpec
  readonly lambda: lambda.Function
  /** The trigger invokes this: the function, or the alias that a deployment moves to a new version. */
  readonly live: lambda.IFunction
}

/** One function of the manifest with a role and a log of its own. */
function gatewayFunction(
  parent: Construct,
  spec: FunctionSpec,
  resources: GrantedResources,
  code: lambda.Code,
): GatewayFunction {
  const scope = new Construct(parent, spec.name)
  const { stage } = resources
  const functionName = nameOf(stage.settings.name, spec)
  const isAliased = hasAlias(spec, stage)
  const made = new lambda.Function(scope, 'Function', {
    code,
    ...nodeRuntime(scope, { stage, functionName }, (logGroup) =>
      grantsOf(spec, resources, logGroup),
    ),
    memorySize: spec.memoryMb,
    timeout: Duration.seconds(spec.timeoutSeconds),
    environment: environmentOf(spec, resources),
    // An alias can move back to an old version (runbook). A rolled back one would prevent the next try: Lambda publishes
    // the same code only once.
    currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    recursiveLoop:
      spec.recursive === true ? lambda.RecursiveLoop.ALLOW : lambda.RecursiveLoop.TERMINATE,
    ...reservedConcurrency(spec, stage),
    ...networkOf(spec, resources),
    ...(!isAliased && asyncRuns(spec, resources)),
  })
  if (!isAliased) return { spec, lambda: made, live: made }
  const version = { aliasName: LIVE_ALIAS, version: made.currentVersion }
  return {
    spec,
    lambda: made,
    live: new lambda.Alias(scope, 'Live', { ...version, ...asyncRuns(spec, resources) }),
  }
}

/** A function that calls merchants uses the stage's fixed addresses, if there are any. */
function networkOf({ callsMerchants }: FunctionSpec, { egress }: GrantedResources) {
  return egress && callsMerchants === true
    ? { vpc: egress.vpc, vpcSubnets: egress.subnets, securityGroups: [egress.securityGroup] }
    : {}
}

/** The next run does the work of a failed one. A daily run is retried within minutes. */
function asyncRuns(
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

type Triggered<Kind extends Trigger['kind']> = GatewayFunction & {
  readonly trigger: Extract<Trigger, { readonly kind: Kind }>
}

/** The functions of one stack. */
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

  /** The functions that one kind of trigger starts. */
  triggeredBy<Kind extends Trigger['kind']>(kind: Kind): readonly Triggered<Kind>[] {
    return this.all.flatMap((one) => {
      const { trigger } = one.spec
      return isTrigger(trigger, kind) ? [{ ...one, trigger }] : []
    })
  }
}

function isTrigger<Kind extends Trigger['kind']>(
  trigger: Trigger,
  kind: Kind,
): trigger is Extract<Trigger, { readonly kind: Kind }> {
  return trigger.kind === kind
}
