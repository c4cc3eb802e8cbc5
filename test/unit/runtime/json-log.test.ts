import { describe, expect, it } from 'vitest'
import type { LogCode, LogFields } from '../../../shared/log.ts'
import { embeddedMetrics, joiningLog, logInOneLine } from '../../../shared/runtime/json-log.ts'
import { emittedBy } from '../../support/emitted-by.ts'

const METHOD = { method: 'qris', channel: 'none' }

function aLog() {
  const lines: { level: string; code: LogCode; line: object }[] = []
  const log = joiningLog((level, code, line) => {
    lines.push({ level, code, line: { service: 'gateway-dev', ...line } })
  })
  return { log, lines, codes: () => lines.map(({ code }) => code) }
}

describe('the log of a request', () => {
  it('keeps a line apart that has another value of a field, or a repeated code', async () => {
    const { log, lines, codes } = aLog()

    await logInOneLine(async () => {
      for (const operation of ['get_payment', 'get_payment'])
        log.info('provider.called', { operation, call_ms: 5 })
      log.info('callback.ignored', { status: 3 })
      log.info('request.completed', { status: 200 })
    })

    expect(codes()).toStrictEqual(['provider.called', 'callback.ignored', 'request.completed'])
    expect(lines.at(-1)).toMatchObject({ line: { status: 200, outcomes: 'provider.called' } })
    const metrics = lines.flatMap(({ line }) => emittedBy(JSON.stringify(line)))
    expect(
      metrics.filter(({ name, value }) => name === 'ProviderLatency' && value === 5),
    ).toHaveLength(2)
  })

  it('writes a warning, and lines after the last line, at once, and joins nothing to them', async () => {
    const { log, lines, codes } = aLog()

    await logInOneLine(async () => {
      log.info('provider.called', { operation: 'get_payment', call_ms: 5 })
      log.warn('callback.deferred', { payment_id: 'p' })
      log.error('request.failed', { status: 500 })
      log.info('payment.created', METHOD)
    })

    expect(codes()).toStrictEqual(['callback.deferred', 'request.failed', 'payment.created'])
    expect(lines[0]?.line).not.toHaveProperty('outcomes')
    expect(lines[1]).toMatchObject({
      level: 'error',
      line: { status: 500, outcomes: 'provider.called' },
    })
  })

  it('has no lines of a concurrent request, nor of other invocations', async () => {
    const { log, lines } = aLog()
    const request = (payment_id: string) =>
      logInOneLine(async () => {
        log.info('payment.created', { payment_id, ...METHOD })
        await Promise.resolve()
        log.info('request.completed', { status: 201 })
      })

    log.info('due_work.drained', { failed: 0 })
    await Promise.all([request('a'), request('b')])

    expect(lines).toMatchObject([
      { code: 'due_work.drained' },
      { code: 'request.completed', line: { payment_id: 'a' } },
      { code: 'request.completed', line: { payment_id: 'b' } },
    ])
  })
})

function emf(code: LogCode, fields: LogFields) {
  return embeddedMetrics(code, fields) as { readonly _aws: { readonly CloudWatchMetrics: unknown } }
}

describe('embeddedMetrics', () => {
  it('writes a metric once for several sets of dimensions, without empty values; no metric where no field is measured', () => {
    expect(emf('request.completed', { route: 'GET /v1/balance' })).toStrictEqual({})

    const { channel, _aws } = {
      channel: '',
      ...emf('payment.created', { method: 'qris', channel: undefined }),
    }

    const Dimensions = [
      ['service', 'outcome'],
      ['service', 'method', 'channel', 'outcome'],
    ]
    expect(channel).toBe('none')
    expect(_aws.CloudWatchMetrics).toStrictEqual([
      { Namespace: 'PaymentGateway', Dimensions, Metrics: [{ Name: 'Payments', Unit: 'Count' }] },
    ])
  })

  it.each([undefined, Number.NaN])('leaves out a metric whose field is %s', (announced_ms) => {
    const line = emf('delivery.succeeded', { delivery_id: 'd', announced_ms })

    expect(line._aws.CloudWatchMetrics).toMatchObject([{ Metrics: [{ Name: 'DeliveryAttempts' }] }])
    expect(line).not.toHaveProperty('TimeToAnnounce')
  })

  it('writes metrics of the same dimensions in one directive, and other metrics apart', () => {
    const calls = [
      { Name: 'ProviderLatency', Unit: 'Milliseconds' },
      { Name: 'ProviderErrors', Unit: 'Count' },
    ]
    const refused = [{ Name: 'CallsRefused', Unit: 'Count' }]
    expect(
      embeddedMetrics('provider.call_refused', { operation: 'get', call_ms: 7, trouble: 1 }),
    ).toStrictEqual({
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          { Namespace: 'PaymentGateway', Dimensions: [['service', 'operation']], Metrics: calls },
          { Namespace: 'PaymentGateway', Dimensions: [['service']], Metrics: refused },
        ],
      },
      operation: 'get',
      ProviderLatency: 7,
      ProviderErrors: 1,
      CallsRefused: 1,
    })
  })
})
