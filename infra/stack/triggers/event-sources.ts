import { Duration } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import type { DailyTimes } from '../../../functions/daily-times.ts'
import { queuesOf, retriesOf, type ScheduleSpec } from '../../../functions/function-spec.ts'
import type { GatewayFunctions } from '../functions/gateway-functions.ts'
import { type DeployedStage, loadOf, stackNameOf } from '../stage.ts'
import type { GatewayQueues } from '../storage/gateway-queues.ts'

type Props = {
  readonly stage: DeployedStage
  readonly queues: GatewayQueues
  readonly functions: GatewayFunctions
}

export class EventSources extends Construct {
  constructor(scope: Construct, id: string, { stage, queues, functions }: Props) {
    super(scope, id)
    for (const { spec, trigger, live } of functions.triggeredBy('queue')) {
      for (const { queue, batchSize, maxConcurrency } of queuesOf(trigger, loadOf(stage))) {
        new EventSourceMapping(this, queue === trigger.queue ? spec.name : `${spec.name}-slow`, {
          target: live,
          eventSourceArn: queues.byName[queue].queueArn,
          enabled: stage.role === 'open',
          batchSize,
          maxConcurrency,
          reportBatchItemFailures: true,
        })
      }
    }
  }
}

/** EventBridge may start a function twice or late, which each must tolerate. */
export class Schedules extends Construct {
  constructor(scope: Construct, id: string, { stage, queues, functions }: Props) {
    super(scope, id)
    for (const { spec, trigger, live } of functions.triggeredBy('schedule')) {
      new Rule(this, spec.name, {
        ruleName: stackNameOf(stage, spec.name),
        schedule: scheduleOf(trigger.schedule, stage),
        enabled: stage.role === 'open',
        targets: [
          new LambdaFunction(live, {
            retryAttempts: retriesOf(trigger.schedule),
            maxEventAge: Duration.seconds(trigger.schedule.maxEventAgeSeconds),
            deadLetterQueue: queues.deadRuns,
          }),
        ],
      })
    }
  }
}

function scheduleOf(spec: ScheduleSpec, times: DailyTimes) {
  if ('everyMinutes' in spec) return Schedule.rate(Duration.minutes(spec.everyMinutes))
  const { hour, minute } = times[spec.dailyAt]
  return Schedule.cron({ hour: String(hour), minute: String(minute) })
}
