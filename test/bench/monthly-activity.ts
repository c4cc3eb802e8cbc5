import { type FunctionSpec, queuesOf, runsByItself } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import type { QueueName } from '../../shared/queues.ts'
import type { StackTemplate } from '../support/stack-template.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import type { Flow } from './metered-world.ts'

const { hoursPerMonth } = ASSUMPTIONS
const HOUR_SECONDS = 3_600

const own = MANIFEST.filter(runsByItself)

/** The function of the manifest by that name. */
export const specOf = (name: string): FunctionSpec => {
  const spec = MANIFEST.find((one) => one.name === name)
  if (!spec) throw new Error(`there is no function ${name}`)
  return spec
}

/** Runs of a schedule in a month; none of what something else starts. */
export const runsPerMonth = ({ trigger }: FunctionSpec): number => {
  if (trigger.kind !== 'schedule') return 0
  return 'everyMinutes' in trigger.schedule ? (hoursPerMonth * 60) / trigger.schedule.everyMinutes : hoursPerMonth / 24
}

/**
 * In how many intervals of this length a function works, at most, in a month in which every route is called all the time.
 * A queue's function works as often as the senders to the queue.
 */
const busyStretches = (spec: FunctionSpec, seconds: number): number => {
  const all = (hoursPerMonth * HOUR_SECONDS) / seconds
  const { trigger } = spec
  if (trigger.kind === 'schedule') return Math.min(all, runsPerMonth(spec))
  if (trigger.kind !== 'queue') return all
  const senders = own.filter((sender) => sender !== spec && sender.sends.includes(trigger.queue))
  return Math.min(all, busyOf(senders, seconds))
}

const busyOf = (specs: readonly FunctionSpec[], seconds: number): number =>
  specs.reduce((sum, spec) => sum + busyStretches(spec, seconds), 0)

/** Metric-months: a metric is billed by the hours in which it is written (docs.aws.amazon.com: cloudwatch_billing). */
export const metricMonths = (flows: readonly Flow[]): number => {
  const hours = new Map<string, number>()
  for (const { functionName, metrics } of flows) {
    const busy = busyStretches(specOf(functionName), HOUR_SECONDS)
    for (const metric of metrics) hours.set(metric, Math.max(hours.get(metric) ?? 0, busy))
  }
  return [...hours.values()].reduce((sum, one) => sum + one / hoursPerMonth, 0)
}

/**
 * DynamoDB remembers a table's key for each caller, and asks KMS again after five minutes in which the caller did not
 * need it (docs.aws.amazon.com: amazondynamodb, encryption.usagenotes). Taken as once in five minutes, which is more.
 */
const TABLE_KEY_SECONDS = 300
/** What SQS does unless a queue says otherwise. */
const DATA_KEY_SECONDS = 300

/**
 * Requests to the stage's key in a month, of those that do not grow with payments. `idle`: schedules run. `busy`: every
 * role is at work. A queue takes two for each role that sends and one for each that receives, as often as it takes a new
 * data key (docs.aws.amazon.com: AWSSimpleQueueService, sqs-key-management).
 */
export const keyRequests = (gateway: Pick<StackTemplate, 'ofType'>): Readonly<Record<'idle' | 'busy', number>> => {
  // Where the key only seals, its requests grow with payments.
  if (!JSON.stringify(gateway.ofType('AWS::DynamoDB::GlobalTable')).includes('KMSMasterKeyId'))
    return { idle: 0, busy: 0 }
  const queues = gateway.ofType('AWS::SQS::Queue').map(({ properties }) => {
    const seconds = Number(properties['KmsDataKeyReusePeriodSeconds'] ?? DATA_KEY_SECONDS)
    const isIt = (queue: QueueName) => String(properties['QueueName']).endsWith(`-${queue}`)
    const senders = own.filter(({ sends }) => sends.some(isIt))
    const receivers = own.filter(({ trigger }) => queuesOf(trigger).some(({ queue }) => isIt(queue)))
    return 2 * busyOf(senders, seconds) + busyOf(receivers, seconds)
  })
  const table = own.filter((spec) => Object.keys(spec.table).length > 0)
  const idle = table.filter(({ trigger: { kind } }) => kind === 'schedule')
  return {
    idle: busyOf(idle, TABLE_KEY_SECONDS),
    busy: queues.reduce((sum, one) => sum + one, busyOf(table, TABLE_KEY_SECONDS)),
  }
}
