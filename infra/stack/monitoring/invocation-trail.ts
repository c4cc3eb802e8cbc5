import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { DataResourceType, ReadWriteType, Trail } from 'aws-cdk-lib/aws-cloudtrail'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  ObjectLockRetention,
} from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import type { GatewayFunctions } from '../functions/gateway-functions.ts'
import { stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'

/** During this time the records cannot be deleted or changed, not even by the account's root. */
const KEPT = Duration.days(400)

/**
 * Records who invoked which operator function, in the account's own trail. The trail has the
 * request ids of our audit records. No file can be deleted from its bucket, and files are signed
 * every hour.
 */
export class InvocationTrail extends Construct {
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
    const trail = new Trail(this, 'Trail', {
      // A trail of all regions takes its name in each region, also while its own region is lost.
      trailName: `${stackNameOf(stage, 'invocations')}-${Stack.of(this).region}`,
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
