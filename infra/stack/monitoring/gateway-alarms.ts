import { Duration } from 'aws-cdk-lib'
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarmRule,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import {
  type AlarmGroup,
  type AlarmSpec,
  alarmDescription,
  alarmName,
  headingOf,
  PAGES,
  type Page,
  thresholdOf,
} from './alarms/alarm-spec.ts'
import { serviceOf, withoutGaps } from './alarms/metric-ref.ts'
import { cloudWatchMetric } from './cloudwatch-metric.ts'

/** An operator writes this before planned work (docs/runbook.md), the gateway never. */
const QUIET = {
  namespace: 'PaymentGateway/Operators',
  name: 'Quiet',
  statistic: 'Maximum',
} as const
/** A quiet period ends even if no operator ends it. */
const QUIET_MINUTES = 60

type Suppressible = { readonly rules: readonly IAlarmRule[]; readonly quiet: Alarm }

type Props = {
  readonly stage: string
  readonly groups: readonly AlarmGroup[]
  /** Alarms of two stacks need two names in one region. */
  readonly quietId: 'quiet' | 'front-quiet'
  readonly topic: ITopic
  readonly pageTopic: ITopic
}

/**
 * Each alarm writes to the topic when it goes on and off. The composite alarms
 * `gateway-<stage>-page-<what>` write only to the pager's topic; there are several, so that a fault
 * of hours does not hide the next one.
 */
export class GatewayAlarms extends Construct {
  readonly pages: readonly CompositeAlarm[]

  constructor(scope: Construct, id: string, { stage, groups, quietId, topic, pageTopic }: Props) {
    super(scope, id)
    const entries = groups
      .flatMap(({ alarms }) => alarms)
      .map((spec) => {
        const alarm = this.addAlarm(stage, spec)
        return { page: spec.page, alarm, rule: this.ruleOf(stage, spec, alarm) }
      })
    const quiet = this.addQuietAlarm(alarmName(stage, { id: quietId }), stage)
    this.pages = PAGES.flatMap((page) => {
      const rules = entries.filter((entry) => entry.page === page.id).map(({ rule }) => rule)
      return rules.length > 0 ? [this.addPage(stage, page, { rules, quiet })] : []
    })
    const alarms = entries.map(({ alarm }) => alarm)
    notifyTopic(topic, alarms)
    notifyTopic(pageTopic, this.pages)
  }

  /** With a recent window, only while that window is bad too. */
  private ruleOf(stage: string, { recent, ...spec }: AlarmSpec, alarm: Alarm) {
    if (recent === undefined) return onAlarm(alarm)
    const { measure, minutes } = recent
    const short = this.addAlarm(stage, {
      ...spec,
      id: `${spec.id}-recent`,
      heading: headingOf(spec),
      measure,
      when: { ...spec.when, minutes },
    })
    return AlarmRule.allOf(onAlarm(alarm), onAlarm(short))
  }

  private addAlarm(stage: string, spec: AlarmSpec) {
    const { minutes, periods, outOf = periods } = spec.when
    return new Alarm(this, spec.id, {
      alarmName: alarmName(stage, spec),
      alarmDescription: alarmDescription(spec),
      metric: cloudWatchMetric(spec.measure, minutes, spec.summary),
      threshold: thresholdOf(spec),
      // The doctor sees no change of a default.
      actionsEnabled: true,
      comparisonOperator: comparisonOf(spec),
      evaluationPeriods: outOf,
      datapointsToAlarm: periods,
      treatMissingData: spec.whenMissing
        ? TreatMissingData.BREACHING
        : TreatMissingData.NOT_BREACHING,
    })
  }

  /** An alarm that is on while an operator asks for quiet, for at most an hour. */
  private addQuietAlarm(name: string, stage: string) {
    const measure = withoutGaps({ ...QUIET, dimensions: { service: serviceOf(stage) } })
    return new Alarm(this, 'quiet', {
      alarmName: name,
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

  /** Suppressed while an operator asks for quiet. Mails are still sent. */
  private addPage(stage: string, { id, summary }: Page, { rules, quiet }: Suppressible) {
    return new CompositeAlarm(this, id, {
      compositeAlarmName: alarmName(stage, { id }),
      alarmDescription: `${summary} Each alarm of this page also sends a mail. docs/runbook.md#page`,
      alarmRule: AlarmRule.anyOf(...rules),
      actionsEnabled: true,
      actionsSuppressor: quiet,
      actionsSuppressorWaitPeriod: Duration.minutes(2),
      actionsSuppressorExtensionPeriod: Duration.minutes(2),
    })
  }
}

function onAlarm(alarm: Alarm) {
  return AlarmRule.fromAlarm(alarm, AlarmState.ALARM)
}

function notifyTopic(topic: ITopic, alarms: readonly AlarmBase[]) {
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
