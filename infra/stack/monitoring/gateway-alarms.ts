import { Duration } from 'aws-cdk-lib'
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import {
  type AlarmSpec,
  alarmDescription,
  alarmName,
  PAGES,
  type Page,
  thresholdOf,
} from './alarms/alarm-spec.ts'
import { alarmTable } from './alarms/alarm-table.ts'
import { serviceOf, withoutGaps } from './alarms/metric-ref.ts'
import { cloudWatchMetric } from './cloudwatch-metric.ts'
import type { Watched } from './watched-stack.ts'

/** An operator writes this metric before planned work (docs/runbook.md). The gateway never does. */
const QUIET = {
  namespace: 'PaymentGateway/Operators',
  name: 'Quiet',
  statistic: 'Maximum',
} as const
/** A quiet period must end by itself, even if no operator ends it. */
const QUIET_MINUTES = 60

type Suppressible = { readonly alarms: readonly Alarm[]; readonly quiet: Alarm }

/**
 * Every alarm of alarms/alarm-table.ts. Each alarm writes to the topic when it goes on and when it
 * goes off. The composite alarms `gateway-<stage>-page-<what>` combine the alarms that page, and
 * write only to the pager's topic. There are several composite alarms, so that a fault of hours
 * does not hide the next fault.
 */
export class GatewayAlarms extends Construct {
  readonly pages: readonly CompositeAlarm[]

  constructor(
    scope: Construct,
    id: string,
    {
      watched,
      topic,
      pageTopic,
    }: { readonly watched: Watched; readonly topic: ITopic; readonly pageTopic: ITopic },
  ) {
    super(scope, id)
    const entries = alarmTable(watched)
      .flatMap(({ alarms }) => alarms)
      .map((spec) => ({ page: spec.page, alarm: this.addAlarm(watched.stage, spec) }))
    const quiet = this.addQuietAlarm(watched.stage)
    this.pages = PAGES.map((page) => {
      const alarms = entries.filter((entry) => entry.page === page.id).map(({ alarm }) => alarm)
      return this.addPage(watched.stage, page, { alarms, quiet })
    })
    const alarms = entries.map(({ alarm }) => alarm)
    notifyTopic(topic, alarms)
    notifyTopic(pageTopic, this.pages)
  }

  private addAlarm(stage: string, spec: AlarmSpec): Alarm {
    const { minutes, periods, outOf = periods } = spec.when
    return new Alarm(this, spec.id, {
      alarmName: alarmName(stage, spec),
      alarmDescription: alarmDescription(spec),
      metric: cloudWatchMetric(spec.measure, minutes, spec.summary),
      threshold: thresholdOf(spec),
      comparisonOperator: comparisonOf(spec),
      evaluationPeriods: outOf,
      datapointsToAlarm: periods,
      treatMissingData: spec.whenMissing
        ? TreatMissingData.BREACHING
        : TreatMissingData.NOT_BREACHING,
    })
  }

  /** An alarm that is on while an operator asks for quiet, for at most an hour. */
  private addQuietAlarm(stage: string): Alarm {
    const measure = withoutGaps({ ...QUIET, dimensions: { service: serviceOf(stage) } })
    return new Alarm(this, 'quiet', {
      alarmName: `gateway-${stage}-quiet`,
      alarmDescription:
        'On while an operator asks for quiet. The pages of the gateway are suppressed. ' +
        'docs/runbook.md#quiet',
      metric: cloudWatchMetric(measure, QUIET_MINUTES),
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
  }

  /**
   * A page, suppressed while an operator asks for quiet. Mails are still sent, and the pager gets
   * nothing.
   */
  private addPage(
    stage: string,
    { id, summary }: Page,
    { alarms, quiet }: Suppressible,
  ): CompositeAlarm {
    return new CompositeAlarm(this, id, {
      compositeAlarmName: alarmName(stage, { id }),
      alarmDescription: `${summary} Each alarm of this page also sends a mail. docs/runbook.md#page`,
      alarmRule: AlarmRule.anyOf(
        ...alarms.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM)),
      ),
      actionsSuppressor: quiet,
      actionsSuppressorWaitPeriod: Duration.minutes(2),
      actionsSuppressorExtensionPeriod: Duration.minutes(2),
    })
  }
}

function notifyTopic(topic: ITopic, alarms: readonly AlarmBase[]): void {
  const action = new SnsAction(topic)
  for (const alarm of alarms) {
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
  }
}

function comparisonOf({ when }: AlarmSpec): ComparisonOperator {
  if ('above' in when) return ComparisonOperator.GREATER_THAN_THRESHOLD
  if ('below' in when) return ComparisonOperator.LESS_THAN_THRESHOLD
  return ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
}
