import { join } from 'node:path'
import { Duration } from 'aws-cdk-lib'
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { type FunctionSpec, functionName, MANIFEST, type Trigger } from '../functions/manifest.ts'
import { BUNDLING, PROJECT_ROOT } from './bundling.ts'
import { environmentOf } from './environment.ts'
import { type GrantedResources, grantsOf } from './grants.ts'

/** One function of the manifest with a role and a log of its own. */
export class GatewayFunction extends Construct {
  readonly lambda: NodejsFunction

  constructor(scope: Construct, spec: FunctionSpec, resources: GrantedResources) {
    super(scope, spec.name)
    const name = functionName(resources.stage.settings.name, spec)

    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${name}`,
      retention: RetentionDays.TWO_WEEKS,
      removalPolicy: resources.stage.removalPolicy,
    })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      // Inline, so that the role is never there without its permissions when an event source is connected.
      inlinePolicies: { access: new PolicyDocument({ statements: grantsOf(spec, resources, logGroup) }) },
    })
    this.lambda = new NodejsFunction(this, 'Function', {
      functionName: name,
      entry: join(PROJECT_ROOT, spec.entry),
      projectRoot: PROJECT_ROOT,
      depsLockFilePath: join(PROJECT_ROOT, 'package-lock.json'),
      bundling: BUNDLING,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: spec.memoryMb,
      timeout: Duration.seconds(spec.timeoutSeconds),
      environment: environmentOf(spec, resources),
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      recursiveLoop: spec.recursive === true ? lambda.RecursiveLoop.ALLOW : lambda.RecursiveLoop.TERMINATE,
      ...(spec.reservedConcurrency !== undefined && { reservedConcurrentExecutions: spec.reservedConcurrency }),
      ...(spec.trigger.kind === 'schedule' && {
        // A run that failed is repeated by the next one, which sees the world as it is then.
        retryAttempts: 0,
        maxEventAge: Duration.seconds(spec.trigger.schedule.maxEventAgeSeconds),
        onFailure: { bind: () => ({ destination: resources.queues.deadRuns.queueArn }) },
      }),
    })
  }
}

type Triggered<Kind extends Trigger['kind']> = {
  readonly spec: FunctionSpec
  readonly trigger: Extract<Trigger, { readonly kind: Kind }>
  readonly lambda: NodejsFunction
}

/** Every function of the manifest. */
export class GatewayFunctions extends Construct {
  private readonly all: readonly { readonly spec: FunctionSpec; readonly lambda: NodejsFunction }[]

  constructor(scope: Construct, id: string, resources: GrantedResources) {
    super(scope, id)
    this.all = MANIFEST.map((spec) => ({ spec, lambda: new GatewayFunction(this, spec, resources).lambda }))
  }

  /** The functions that one kind of trigger starts. */
  triggeredBy<Kind extends Trigger['kind']>(kind: Kind): readonly Triggered<Kind>[] {
    return this.all.flatMap(({ spec, lambda: fn }) =>
      isTrigger(spec.trigger, kind) ? [{ spec, trigger: spec.trigger, lambda: fn }] : [],
    )
  }
}

const isTrigger = <Kind extends Trigger['kind']>(
  trigger: Trigger,
  kind: Kind,
): trigger is Extract<Trigger, { readonly kind: Kind }> => trigger.kind === kind
