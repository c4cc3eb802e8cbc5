import { describe, expect, it } from 'vitest'
import type { LogCode, LogFields } from '../../../shared/log.ts'
import { LOG_METRICS, METRICS } from '../../../shared/metrics.ts'
import { embeddedMetrics } from '../../../shared/runtime/embedded-metrics.ts'

type Emf = {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[]
    }[]
  }
} & Readonly<Record<string, unknown>>

const counted = (dimensions: readonly string[], ...names: readonly string[]) => ({
  Namespace: 'PaymentGateway',
  Dimensions: [['service', ...dimensions]],
  Metrics: names.map((Name) => ({ Name, Unit: 'Count' })),
})

const emf = (code: LogCode, fields: LogFields): Emf => embeddedMetrics('gateway-dev')(code, fields) as Emf

describe('embeddedMetrics', () => {
  it('adds nothing to a line that is not measured', () => {
    expect(emf('request.completed', { route: 'GET /v1/balance' })).toStrictEqual({})
  })

  it('counts a payment by outcome, and by method and channel', () => {
    const line = emf('payment.expired', { payment_id: 'p', method: 'virtual_account', channel: 'BCA' })

    expect(line).toMatchObject({ Payments: 1, outcome: 'expired', method: 'virtual_account', channel: 'BCA' })
    expect(line._aws.CloudWatchMetrics).toStrictEqual([
      counted(['outcome'], 'Payments'),
      counted(['method', 'channel', 'outcome'], 'Payments'),
    ])
  })

  it('counts a success by where it was heard of as well', () => {
    const line = emf('payment.succeeded', { method: 'qris', channel: undefined, source: 'callback' })

    expect(line).toMatchObject({ Payments: 1, SuccessHeard: 1, source: 'callback' })
    expect(line._aws.CloudWatchMetrics.slice(2)).toStrictEqual([counted(['source'], 'SuccessHeard')])
  })

  it('names the channel of a payment that has none, since CloudWatch refuses an empty dimension', () => {
    expect(emf('payment.created', { method: 'qris', channel: undefined })).toMatchObject({ channel: 'none' })
  })

  it('leaves out a metric whose field the line does not have', () => {
    const line = emf('delivery.succeeded', { delivery_id: 'd', announced_ms: undefined })

    expect(line._aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name))).toStrictEqual([
      'DeliveryAttempts',
    ])
  })

  it('leaves out a number that is none', () => {
    expect(emf('delivery.succeeded', { announced_ms: Number.NaN })).not.toHaveProperty('TimeToAnnounce')
  })

  it('keeps the metrics of one line off the next', () => {
    const metricsOf = embeddedMetrics('gateway-dev')
    metricsOf('payment.created', { method: 'qris', channel: undefined })

    expect(metricsOf('sweep.completed', { clients: 3 })).toStrictEqual({
      _aws: { Timestamp: expect.any(Number), CloudWatchMetrics: [counted([], 'SweepRuns', 'SweptClients')] },
      SweepRuns: 1,
      SweptClients: 3,
    })
  })
})

describe('the list of metrics', () => {
  const groups = Object.values(LOG_METRICS).flat()

  it('has no metric that no log line carries', () => {
    const carried = groups.flatMap(({ measured }) => measured.map(({ metric }) => metric))

    expect([...new Set(carried)].toSorted()).toStrictEqual(Object.keys(METRICS).toSorted())
  })

  it('puts metrics on one line together only when they have the same dimensions', () => {
    for (const { measured } of groups) {
      const sets = measured.map(({ metric }) => JSON.stringify(METRICS[metric].dimensionSets))
      expect(new Set(sets).size).toBe(1)
    }
  })
})
