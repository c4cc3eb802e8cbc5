import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { type FunctionSpec, functionName as nameOf, type Trigger } from '../../../functions/function-spec.ts'
import { hasAlias, LIVE_ALIAS } from '../stack-name-of.ts'
import { assetsOf } from './assets-of.ts'
import { environmentOf } from './environment.ts'
import { type GrantedResources, grantsOf } from './grants.ts'
import { nodeRuntime } from './node-runtime.ts'
import { reservedConcurrency } from './reserved-concurrency.ts'

/** The next run repeats a failed one, with the state of that time. */
const asyncRuns = ({ trigger }: FunctionSpec, { data }: GrantedResources): lambda.EventInvokeConfigOptions =>
  trigger.kind === 'schedule'
    ? {
        retryAttempts: 0,
        maxEventAge: Duration.seconds(trigger.schedule.maxEventAgeSeconds),
        onFailure: { bind: () => ({ destination: data.queues.deadRuns.queueArn }) },
      }
    : {}

/** A function that calls merchants uses the stage's fixed addresses, if there are any. */
const networkOf = ({ callsMerchants }: FunctionSpec, { egress }: GrantedResources) =>
  egress && callsMerchants === true
    ? { vpc: egress.vpc, vpcSubnets: egress.subnets, securityGroups: [egress.securityGroup] }
    : {}

/** One function of the manifest with a role and a log of its own. */
class GatewayFunction extends Construct {
  readonly lambda: lambda.Function
  /** What its trigger invokes: the function, or the alias that a deployment moves to a new version. */
  readonly live: lambda.IFunction

  constructor(scope: Construct, spec: FunctionSpec, resources: GrantedResources, code: lambda.Code) {
    super(scope, spec.name)
    const functionName = nameOf(resources.stage.settings.name, spec)
    const isAliased = hasAlias(spec, resources.stage)

    this.lambda = new lambda.Function(this, 'Function', {
      code,
      ...nodeRuntime(this, { stage: resources.stage, functionName }, (logGroup) => grantsOf(spec, resources, logGroup)),
      memorySize: spec.memoryMb,
      timeout: Duration.seconds(spec.timeoutSeconds),
      environment: environmentOf(spec, resources),
      // Kept when the next version comes: an alias can only move back to an existing version (runbook).
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
      recursiveLoop: spec.recursive === true ? lambda.RecursiveLoop.ALLOW : lambda.RecursiveLoop.TERMINATE,
      ...reservedConcurrency(spec, resources.stage),
      ...networkOf(spec, resources),
      ...(!isAliased && asyncRuns(spec, resources)),
    })
    this.live = isAliased ? this.liveAlias(asyncRuns(spec, resources)) : this.lambda
  }

  private liveAlias(options: lambda.AliasOptions): lambda.Alias {
    return new lambda.Alias(this, 'Live', { aliasName: LIVE_ALIAS, version: this.lambda.currentVersion, ...options })
  }
}

type Triggered<Kind extends Trigger['kind']> = {
  readonly spec: FunctionSpec
  readonly trigger: Extract<Trigger, { readonly kind: Kind }>
  readonly lambda: lambda.Function
  readonly live: lambda.IFunction
}

/** The functions of one stack. */
export class GatewayFunctions extends Construct {
  readonly all: readonly { readonly spec: FunctionSpec; readonly made: GatewayFunction }[]

  constructor(scope: Construct, id: string, specs: readonly FunctionSpec[], resources: GrantedResources) {
    super(scope, id)
    const assetOf = assetsOf(resources.stage)
    this.all = specs.map((spec) => ({ spec, made: new GatewayFunction(this, spec, resources, assetOf(spec)) }))
  }

  /** The functions that one kind of trigger starts. */
  triggeredBy<Kind extends Trigger['kind']>(kind: Kind): readonly Triggered<Kind>[] {
    return this.all.flatMap(({ spec, made }) =>
      isTrigger(spec.trigger, kind) ? [{ spec, trigger: spec.trigger, lambda: made.lambda, live: made.live }] : [],
    )
  }
}

const isTrigger = <Kind extends Trigger['kind']>(
  trigger: Trigger,
  kind: Kind,
): trigger is Extract<Trigger, { readonly kind: Kind }> => trigger.kind === kind
