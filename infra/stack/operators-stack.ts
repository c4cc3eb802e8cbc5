import {
  type App,
  CfnOutput,
  DefaultStackSynthesizer,
  Duration,
  RemovalPolicy,
  Stack,
} from 'aws-cdk-lib'
import { DataResourceType, ReadWriteType, Trail } from 'aws-cdk-lib/aws-cloudtrail'
import {
  AnyPrincipal,
  Effect,
  ManagedPolicy,
  PolicyStatement,
  type PolicyStatementProps,
} from 'aws-cdk-lib/aws-iam'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  ObjectLockRetention,
} from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { DUTIES, mayInvoke, ROLES, type Role } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import type { DataStack } from './data-stack.ts'
import { GatewayFunctions } from './functions/gateway-functions.ts'
import { onCallStatements } from './functions/on-call-statements.ts'
import {
  canaryKeySecretName,
  type DeployedStage,
  FRONT_REGION,
  PROVER,
  stackNameOf,
} from './stage.ts'
import { arnOf, StageStack } from './stage-stack.ts'
import { encryptLogs } from './storage/stage-key.ts'

export class OperatorsStack extends StageStack {
  constructor(scope: App, stage: DeployedStage, data: DataStack) {
    super(scope, stage, { part: 'operators', holds: 'functions and policies of operators' })
    encryptLogs(this, data.key)
    const specs = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')
    const functions = new GatewayFunctions(this, 'Functions', specs, { stage, data })
    new DutyPolicies(this, 'Duties', { stage, data })
    if (stage.invocationTrail) new InvocationTrail(this, 'InvocationTrail', stage, functions)
  }
}

type Props = { readonly stage: DeployedStage; readonly data: DataStack }

/**
 * A managed policy for each duty, to be attached to people, one for the deployer and one for people
 * on call. It names each function of the duty; a function has one duty.
 */
class DutyPolicies extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    for (const role of ROLES) this.addPolicy(role, props)
  }

  private addPolicy(role: Role, props: Props) {
    const { stage, data } = props
    const names = MANIFEST.flatMap((spec) => (mayInvoke(role, spec) ? spec.name : []))
    // The doctor asks the prover, which starts no action.
    const functions = role === 'deploy' ? [...names, PROVER] : names
    const does = {
      ...DUTIES,
      deploy: 'deploy, hold the secrets of the stage, start what schedules start',
      oncall: 'the commands of the runbook, besides look and support',
    }[role]
    const policy = new ManagedPolicy(this, role, {
      // No description: for a new one CloudFormation would replace the policy, and cannot make two
      // of one name.
      managedPolicyName: stackNameOf(stage, role),
      statements: [
        {
          sid: 'Invoke',
          actions: ['lambda:InvokeFunction'],
          resources: functions.map((name) =>
            arnOf(this, 'lambda', `function:${stackNameOf(stage, name)}`),
          ),
        },
        ...(role === 'deploy' ? this.deployStatements(props) : []),
        ...(role === 'oncall' ? onCallStatements(this, stage, data) : []),
      ].map((statement) => new PolicyStatement(statement)),
    })
    new CfnOutput(Stack.of(this), `${role.charAt(0).toUpperCase()}${role.slice(1)}PolicyArn`, {
      value: policy.managedPolicyArn,
      description: `For people who do this: ${does}. It may invoke ${functions.join(', ')}`,
    })
  }

  /**
   * The roles that `cdk bootstrap` made. A deployer puts the stage's secrets; the doctor reads
   * them.
   */
  private deployStatements({
    stage: { front, settings },
    data: { provider, originSecret, key },
  }: Props): PolicyStatementProps[] {
    const secrets = [provider.key, provider.callbackTokens, ...(originSecret ? [originSecret] : [])]
    // AWS appends a dash and six characters to the name of a secret.
    const secret = `secret:${canaryKeySecretName(settings.name)}-??????`
    const canaryKey = arnOf(this, 'secretsmanager', secret, FRONT_REGION)
    const conditions = {
      StringEquals: { 'kms:ViaService': `secretsmanager.${Stack.of(this).region}.amazonaws.com` },
    }
    const keyStatement = { sid: 'Key', actions: ['kms:Decrypt', 'kms:GenerateDataKey'], conditions }
    return [
      {
        sid: 'Deploy',
        actions: ['sts:AssumeRole'],
        resources: [
          arnOf(this, 'iam', `role/cdk-${DefaultStackSynthesizer.DEFAULT_QUALIFIER}-*`, ''),
        ],
      },
      {
        sid: 'Secrets',
        actions: [
          'secretsmanager:DescribeSecret',
          'secretsmanager:GetSecretValue',
          'secretsmanager:PutSecretValue',
        ],
        resources: [
          ...secrets.map(({ secretArn }) => secretArn),
          ...(front === 'cloudfront' ? [canaryKey] : []),
        ],
      },
      ...(key ? [{ ...keyStatement, resources: [key.keyArn] }] : []),
    ]
  }
}

/** Not even the account's root can delete or change the records earlier. */
const KEPT = Duration.days(400)

/**
 * Who invoked which operator function, in the account's own trail, with the request ids of our
 * audit records. No file can be deleted, and files are signed every hour.
 */
class InvocationTrail extends Construct {
  constructor(scope: Construct, id: string, stage: DeployedStage, functions: GatewayFunctions) {
    super(scope, id)
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      versioned: true,
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.compliance(KEPT),
      lifecycleRules: [
        { expiration: KEPT.plus(Duration.days(1)), noncurrentVersionExpiration: Duration.days(1) },
      ],
      // CloudFormation cannot delete a bucket that has content.
      removalPolicy: RemovalPolicy.RETAIN,
    })
    // A trail of all regions takes its name in each region, also while its own region is lost.
    const trailName = `${stackNameOf(stage, 'invocations')}-${Stack.of(this).region}`
    // CDK lets a trail of another account write, with a prefix like this account's.
    bucket.addToResourcePolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['s3:PutObject'],
        resources: [bucket.arnForObjects('*')],
        conditions: {
          StringNotEquals: { 'aws:SourceArn': arnOf(this, 'cloudtrail', `trail/${trailName}`) },
        },
      }),
    )
    const trail = new Trail(this, 'Trail', {
      trailName,
      bucket,
      enableFileValidation: true,
      // The rules of protections, also that of the copies in another region, get their events from
      // a trail. The first copy of these is free. A trail of all regions has global events too.
      isMultiRegionTrail: stage.copies !== undefined,
      includeGlobalServiceEvents: stage.copies !== undefined,
      managementEvents: ReadWriteType.WRITE_ONLY,
    })
    const operated = functions.triggeredBy('operator').map(({ lambda }) => lambda.functionArn)
    trail.addEventSelector(DataResourceType.LAMBDA_FUNCTION, operated, {
      includeManagementEvents: true,
      readWriteType: ReadWriteType.WRITE_ONLY,
    })
    new CfnOutput(Stack.of(this), 'InvocationTrailBucket', {
      value: bucket.bucketName,
      description: 'Who invoked which operator function. No one can delete its records',
    })
  }
}
