import { describe, expect, it } from 'vitest'
import { awsMetric, ourMetrics } from '../../../infra/stack/monitoring/alarms/metric-ref.ts'

const our = ourMetrics('prod')

describe('a reference to a metric of ours', () => {
  it('does not compile with a name, a dimension or a set that the catalogue does not have', () => {
    const mistakes = [
      // @ts-expect-error No such metric.
      our('Payment', { outcome: 'created' }, 'Sum'),
      // @ts-expect-error No such dimension.
      our('Payments', { result: 'created' }, 'Sum'),
      // @ts-expect-error Half a set: nothing is emitted with method and outcome alone.
      our('Payments', { method: 'qris', outcome: 'created' }, 'Sum'),
      // @ts-expect-error No set is empty.
      our('Payments', {}, 'Sum'),
      // @ts-expect-error Has no dimensions but the stage.
      our('SweepRuns', { outcome: 'created' }, 'Sum'),
      // @ts-expect-error AWS publishes no such metric.
      awsMetric('AWS/SQS', 'ApproximateAgeOfOldest', { QueueName: 'q' }, 'Sum'),
      // @ts-expect-error SQS knows no tables.
      awsMetric('AWS/SQS', 'NumberOfMessagesDeleted', { TableName: 't' }, 'Sum'),
    ]

    expect(mistakes).toHaveLength(7)
  })
})
