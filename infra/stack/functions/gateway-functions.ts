import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { type FunctionSpec, functionName, isHttp, type Trigger } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'
import { codeOf } from './code-of.ts'
import { environmentOf } from './environment.ts'
import { type GrantedResources, grantsOf } from './grants.ts'
import { assertReservable, reservedConcurrency } from './reserved-concurrency.ts'

/** Requests go to it, and CodeDeploy decides which versions stand behind it. */
const LIVE_ALIAS = 'live'

/**
 * Only what payments wait for is tried on a few requests first: queues and schedules repeat what failed, and for what is
 * looked up a stack has no room (four resources of each).
 */
const hasAlias = (spec: FunctionSpec, { deployment }: DeployedStage): boolean =>
  deployment !== 'all-at-once' && isHttp(spec) && !spec.lookup

/** Whoever calls merchants leaves from the stage's fixed addresses, where it has them. */
const networkOf = ({ callsMerchants }: FunctionSpec, { egress }: GrantedResources) =>
  egress && callsMerchants === true
    ? { vpc: egress.vpc, vpcSubnets: egress.subnets, securityGroups: [egress.securityGroup] }
    : {}

/** One function of the manifest with a role and a log of its own. */
class GatewayFunction extends Construct {
  readonly lambda: lambda.Function
  /** What requests invoke: the function, or the alias that a deployment moves from version to version. */
  readonly live: lambda.IFunction

  constructor(scope: Construct, spec: FunctionSpec, resources: GrantedResources) {
    super(scope, spec.name)
    const name = functionName(resources.stage.settings.name, spec)

    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${name}`,
      retention: RetentionDays.TWO_WEEKS,
      removalPolicy: removalPolicyBesidesTable(resources.stage),
    })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      // Inline, so that the role is never there without its permissions when an event source is connected.
      inlinePolicies: { access: new PolicyDocument({ statements: grantsOf(spec, resources, logGroup) }) },
    })
    this.lambda = new lambda.Function(this, 'Function', {
      functionName: name,
      code: codeOf(spec, resources.stage),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: spec.memoryMb,
      timeout: Duration.seconds(spec.timeoutSeconds),
      environment: environmentOf(spec, resources),
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // Powertools takes it from Lambda. Lambda's own lines are written for runs that failed, not for each that ran.
      applicationLogLevelV2: lambda.ApplicationLogLevel[resources.stage.logLevel],
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      // X-Ray stays off: its SDK is 127 kB and 30 ms of every start, HTTP APIs take no part in a trace, and one log
      // line per outcome, with the ids of payment, event and delivery on it, tells the same story.
      tracing: lambda.Tracing.DISABLED,
      // Kept when the next one comes: an alias can only be moved back to a version that is still there (runbook).
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
      recursiveLoop: spec.recursive === true ? lambda.RecursiveLoop.ALLOW : lambda.RecursiveLoop.TERMINATE,
      ...reservedConcurrency(spec, resources.stage),
      ...networkOf(spec, resources),
      ...(spec.trigger.kind === 'schedule' && {
        // A run that failed is repeated by the next one, which sees the world as it is then.
        retryAttempts: 0,
        maxEventAge: Duration.seconds(spec.trigger.schedule.maxEventAgeSeconds),
        onFailure: { bind: () => ({ destination: resources.queues.deadRuns.queueArn }) },
      }),
    })
    this.live = hasAlias(spec, resources.stage) ? this.liveAlias() : this.lambda
  }

  private liveAlias(): lambda.Alias {
    return new lambda.Alias(this, 'Live', { aliasName: LIVE_ALIAS, version: this.lambda.currentVersion })
  }
}

type Triggered<Kind extends Trigger['kind']> = {
  readonly spec: FunctionSpec
  readonly trigger: Extract<Trigger, { readonly kind: Kind }>
  readonly lambda: lambda.Function
  readonly live: lambda.IFunction
}

/** Every function of the manifest. */
export class GatewayFunctions extends Construct {
  private readonly all: readonly { readonly spec: FunctionSpec; readonly made: GatewayFunction }[]

  constructor(scope: Construct, id: string, resources: GrantedResources) {
    super(scope, id)
    assertReservable(resources.stage, MANIFEST)
    this.all = MANIFEST.map((spec) => ({ spec, made: new GatewayFunction(this, spec, resources) }))
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
