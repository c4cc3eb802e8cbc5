import { Duration } from 'aws-cdk-lib'
import {
  Alarm,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { type AlarmSpec, alarmDescription, alarmName } from './alarms/alarm-spec.ts'
import { alarmsOf } from './alarms/all-alarms.ts'
import { serviceOf } from './alarms/metric-ref.ts'
import type { Watched } from './alarms/watched.ts'
import { cloudWatchMetric } from './cloudwatch-metric.ts'

const COMPARISONS = {
  above: ComparisonOperator.GREATER_THAN_THRESHOLD,
  'at least': ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  below: ComparisonOperator.LESS_THAN_THRESHOLD,
} as const

const MISSING = {
  notBreaching: TreatMissingData.NOT_BREACHING,
  breaching: TreatMissingData.BREACHING,
} as const

/** Written by an operator before planned work (infra/runbook.md), never by the gateway. */
const QUIET = { namespace: 'PaymentGateway/Operators', metricName: 'Quiet' } as const

/**
 * Every alarm of infra/alarms. Each tells the topic by its own name when it goes off and when it is over; one more,
 * `gateway-<stage>-page`, stands for all that page, so that a pager follows a single name.
 */
export class GatewayAlarms extends Construct {
  readonly page: CompositeAlarm

  constructor(scope: Construct, id: string, props: { readonly watched: Watched; readonly topic: ITopic }) {
    super(scope, id)
    const { watched, topic } = props
    const action = new SnsAction(topic)
    const alarms = alarmsOf(watched).map((spec) => ({ spec, alarm: this.alarm(watched.stage, spec) }))
    this.page = this.composite(
      watched.stage,
      alarms.filter(({ spec }) => spec.severity === 'page').map(({ alarm }) => alarm),
    )
    for (const alarm of [...alarms.map((made) => made.alarm), this.page]) {
      alarm.addAlarmAction(action)
      alarm.addOkAction(action)
    }
  }

  private alarm(stage: string, spec: AlarmSpec): Alarm {
    return new Alarm(this, spec.id, {
      alarmName: alarmName(stage, spec),
      alarmDescription: alarmDescription(spec),
      metric: cloudWatchMetric(spec.measure, spec.periodMinutes, spec.says),
      comparisonOperator: COMPARISONS[spec.is],
      threshold: spec.threshold,
      evaluationPeriods: spec.outOf ?? spec.periods,
      datapointsToAlarm: spec.periods,
      treatMissingData: MISSING[spec.whenMissing],
    })
  }

  /** Suppressed while an operator asked for quiet: mails go on, the pager does not. */
  private composite(stage: string, alarms: readonly Alarm[]): CompositeAlarm {
    const quiet = new Alarm(this, 'quiet', {
      alarmName: `gateway-${stage}-quiet`,
      alarmDescription: 'On while an operator asked for quiet: gateway pages are held back. infra/runbook.md#quiet',
      metric: new Metric({
        ...QUIET,
        dimensionsMap: { service: serviceOf(stage) },
        statistic: 'Maximum',
        // Asked for by the hour: quiet that nobody ends must end by itself.
        period: Duration.hours(1),
      }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
    return new CompositeAlarm(this, 'page', {
      compositeAlarmName: `gateway-${stage}-page`,
      alarmDescription:
        'Something that cannot wait for the morning. The alarms it stands for have their own mails. infra/runbook.md#page',
      alarmRule: AlarmRule.anyOf(...alarms.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
      actionsSuppressor: quiet,
      actionsSuppressorWaitPeriod: Duration.minutes(2),
      actionsSuppressorExtensionPeriod: Duration.minutes(2),
    })
  }
}
