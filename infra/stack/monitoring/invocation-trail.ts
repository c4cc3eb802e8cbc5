import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { DataResourceType, ReadWriteType, Trail } from 'aws-cdk-lib/aws-cloudtrail'
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import type { GatewayFunctions } from '../functions/gateway-functions.ts'
import { stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'

/** So long nobody can delete or change what was recorded, the account's root neither. */
const KEPT = Duration.days(400)

/**
 * Who invoked which operator function, by the account's own trail: the request id there is the one of our audit records.
 * In a bucket that nothing can be deleted from; files are signed, hour by hour.
 */
export class InvocationTrail extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { stage, functions }: { readonly stage: DeployedStage; readonly functions: GatewayFunctions },
  ) {
    super(scope, id)
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      versioned: true,
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.compliance(KEPT),
      lifecycleRules: [{ expiration: KEPT.plus(Duration.days(1)), noncurrentVersionExpiration: Duration.days(1) }],
      // It could not be deleted with the stack as long as anything is in it.
      removalPolicy: RemovalPolicy.RETAIN,
    })
    const trail = new Trail(this, 'Trail', {
      trailName: `${stackNameOf(stage)}-invocations`,
      bucket,
      enableFileValidation: true,
      isMultiRegionTrail: false,
      includeGlobalServiceEvents: false,
      managementEvents: ReadWriteType.NONE,
    })
    const operated = functions.triggeredBy('operator').map(({ lambda }) => lambda.functionArn)
    trail.addEventSelector(DataResourceType.LAMBDA_FUNCTION, operated, { includeManagementEvents: false })
    new CfnOutput(Stack.of(this), 'InvocationTrailBucket', {
      value: bucket.bucketName,
      description: 'Who invoked which operator function: nothing can be deleted from it',
    })
  }
}
