import { Duration } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Alias, type IFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { allow, roleWith } from '../allow.ts'
import { ourMetrics } from '../monitoring/alarms/metric-ref.ts'
import { failedRequests } from '../monitoring/alarms/money-in-alarms.ts'
import { cloudWatchMetric } from '../monitoring/cloudwatch-metric.ts'
import { type DeployedStage, stackNameOf } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'
import type { GatewayFunctions } from './gateway-functions.ts'

const MINUTE = Duration.minutes(1)

/**
 * At ten requests a second, a broken version fails 60 a minute with its tenth. A good version fails
 * a few too.
 */
const SERVER_ERRORS_A_MINUTE = 5

type Props = {
  readonly stage: DeployedStage
  readonly functions: GatewayFunctions
  readonly api: HttpApi
}

const ONE_MINUTE_IS_ENOUGH = {
  evaluationPeriods: 1,
  comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  treatMissingData: TreatMissingData.NOT_BREACHING,
} as const

/**
 * A new version of a function that payments wait for gets a tenth of the requests for five minutes.
 * If it crashes, or the API answers with server errors, CodeDeploy rolls it back and the deployment
 * fails, also by an alarm that is already on. `deployment: 'alias-only'` deploys a fix during an
 * incident, and keeps the aliases.
 */
export class CanaryDeployments extends Construct {
  constructor(scope: Construct, id: string, { stage, functions, api }: Props) {
    super(scope, id)
    const application = new LambdaApplication(this, 'Application', {
      applicationName: stackNameOf(stage),
    })
    const role = this.deployerRole(stage)
    const serverErrors = new Alarm(this, 'ServerErrors', {
      alarmName: stackNameOf(stage, 'canary-server-errors'),
      alarmDescription:
        'Takes back a new version while it is tried: the API answers with server errors',
      metric: cloudWatchMetric(
        failedRequests({ apiId: api.apiId, our: ourMetrics(stage.settings.name) }),
        1,
      ),
      threshold: SERVER_ERRORS_A_MINUTE,
      ...ONE_MINUTE_IS_ENOUGH,
      // The newest minutes have no data yet, which the formula takes for zero.
      evaluationPeriods: 3,
      datapointsToAlarm: 1,
    })

    for (const { spec, live } of [
      ...functions.triggeredBy('http'),
      ...functions.triggeredBy('http-default'),
    ]) {
      // No payment waits for a lookup, and each canary takes two resources.
      if (!(live instanceof Alias) || spec.lookup) continue
      const crashes = this.crashAlarm(spec.name, live, stage)
      new LambdaDeploymentGroup(this, spec.name, {
        application,
        alias: live,
        role,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
        alarms: [crashes, serverErrors],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      })
    }
  }

  /** Counts runs that failed or never began. An answer with an error does not count. */
  private crashAlarm(name: string, alias: IFunction, stage: DeployedStage) {
    return new Alarm(this, `${name}-crashes`, {
      alarmName: stackNameOf(stage, `canary-${name}-crashes`),
      alarmDescription: `Takes back a new version while it is tried: ${name} crashes or runs out of time`,
      metric: alias.metricErrors({ period: MINUTE, statistic: 'Sum' }),
      threshold: 1,
      ...ONE_MINUTE_IS_ENOUGH,
    })
  }

  /** What AWSCodeDeployRoleForLambdaLimited has, for this stage only. */
  private deployerRole(stage: DeployedStage) {
    const aliasActions = [
      'lambda:GetAlias',
      'lambda:GetProvisionedConcurrencyConfig',
      'lambda:UpdateAlias',
    ]
    const role = roleWith(this, new ServicePrincipal('codedeploy.amazonaws.com'), [
      ...allow(aliasActions, [arnOf(this, 'lambda', `function:${stackNameOf(stage, '*')}`)]),
      // CloudWatch can allow this call only on all alarms.
      ...allow(['cloudwatch:DescribeAlarms'], [arnOf(this, 'cloudwatch', 'alarm:*')]),
    ])
    // Otherwise the deployment groups attach the managed policy, which reaches every function.
    return role.withoutPolicyUpdates()
  }
}
