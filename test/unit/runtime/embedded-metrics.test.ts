import { describe, expect, it } from 'vitest'
import type { LogCode, LogFields } from '../../../shared/log.ts'
import { LOG_METRICS, METRICS } from '../../../shared/metrics.ts'
import { embeddedMetrics } from '../../../shared/runtime/json-log.ts'

type Emf = { readonly _aws: { readonly CloudWatchMetrics: unknown } }

const emf = (code: LogCode, fields: LogFields): Emf => embeddedMetrics(code, fields) as Emf

describe('embeddedMetrics', () => {
  it('adds nothing to a line that is not measured', () => {
    expect(emf('request.completed', { route: 'GET /v1/balance' })).toStrictEqual({})
  })

  it('names the channel of a payment that has none, since CloudWatch refuses an empty dimension', () => {
    expect(emf('payment.created', { method: 'qris', channel: undefined })).toMatchObject({ channel: 'none' })
  })

  it('writes metrics once that it measures by several sets of dimensions', () => {
    const line = emf('payment.created', { method: 'qris', channel: undefined })

    expect(line._aws.CloudWatchMetrics).toStrictEqual([
      {
        Namespace: 'PaymentGateway',
        Dimensions: [
          ['service', 'outcome'],
          ['service', 'method', 'channel', 'outcome'],
        ],
        Metrics: [{ Name: 'Payments', Unit: 'Count' }],
      },
    ])
  })

  it.each([undefined, Number.NaN])('leaves out a metric whose field is %s', (announced_ms) => {
    const line = emf('delivery.succeeded', { delivery_id: 'd', announced_ms })

    expect(line._aws.CloudWatchMetrics).toMatchObject([{ Metrics: [{ Name: 'DeliveryAttempts' }] }])
    expect(line).not.toHaveProperty('TimeToAnnounce')
  })

  it('writes several metrics of the same dimensions in one directive', () => {
    const Metrics = ['SweepRuns', 'SweptClients'].map((Name) => ({ Name, Unit: 'Count' }))
    const counted = { Namespace: 'PaymentGateway', Dimensions: [['service']], Metrics }
    expect(embeddedMetrics('sweep.completed', { clients: 3 })).toStrictEqual({
      _aws: { Timestamp: expect.any(Number), CloudWatchMetrics: [counted] },
      SweepRuns: 1,
      SweptClients: 3,
    })
  })
})

it('metrics are on one line together only when they have the same dimensions', () => {
  for (const { measured } of Object.values(LOG_METRICS).flat()) {
    const sets = measured.map(({ metric }) => JSON.stringify(METRICS[metric].dimensionSets))
    expect(new Set(sets).size).toBe(1)
  }
})
