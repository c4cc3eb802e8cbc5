import { Rule } from 'aws-cdk-lib/aws-events'
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { RECOVERY_DAYS } from './gateway-table.ts'

/** What weakens the key, the table, its recovery, its protection, its backups, or the trail. */
const WEAKENING = [
  { eventName: ['DisableKey', 'ScheduleKeyDeletion', 'DeleteTable'] },
  { eventName: ['DeleteBackupPlan', 'DeleteBackupSelection'] },
  { eventName: ['StopLogging', 'DeleteTrail', 'UpdateTrail', 'PutEventSelectors'] },
  { eventName: ['UpdateTable'], requestParameters: { deletionProtectionEnabled: [false] } },
  {
    eventName: ['UpdateContinuousBackups'],
    requestParameters: {
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: [false] },
    },
  },
  {
    eventName: ['UpdateContinuousBackups'],
    requestParameters: {
      pointInTimeRecoverySpecification: {
        recoveryPeriodInDays: [{ numeric: ['<', RECOVERY_DAYS] }],
      },
    },
  },
]

/**
 * Tells operators who weakens the protection of the stage's data, by CloudTrail. Watches the whole
 * account, because CloudTrail names a key in several ways.
 */
export class ProtectionRule extends Construct {
  constructor(scope: Construct, id: string, ruleName: string, topic: ITopic) {
    super(scope, id)
    new Rule(this, 'Rule', {
      ruleName,
      eventPattern: {
        detailType: ['AWS API Call via CloudTrail'],
        detail: { errorCode: [{ exists: false }], $or: WEAKENING },
      },
      targets: [new SnsTopic(topic)],
    })
  }
}
