import { describe, expect, it } from 'vitest'
import type { LogCode } from '../../../shared/log.ts'
import { inOneLine, joiningLog } from '../../../shared/runtime/json-log.ts'
import { emittedBy } from '../../support/emitted-by.ts'

const METHOD = { method: 'qris', channel: 'none' }

/** A log whose lines are kept, with the metrics that ride on each. */
const aLog = () => {
  const lines: { level: string; code: LogCode; line: object }[] = []
  const log = joiningLog((level, code, line) => {
    lines.push({ level, code, line: { service: 'gateway-dev', ...line } })
  })
  return {
    log,
    lines,
    codes: () => lines.map(({ code }) => code),
    metrics: () =>
      lines.flatMap(({ line }) => emittedBy(JSON.stringify(line)).map(({ name, value }) => `${name} ${value}`)),
  }
}

describe('the log of a request', () => {
  it('is one line with the fields and the metrics of all its ordinary lines', async () => {
    const { log, lines, metrics } = aLog()

    await inOneLine(async () => {
      log.info('provider.called', { operation: 'create_request', call_ms: 90 })
      await Promise.resolve()
      log.info('payment.created', { payment_id: 'p', ...METHOD })
      log.info('request.completed', { request_id: 'r', status: 201, duration_ms: 120 })
    })

    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      level: 'info',
      code: 'request.completed',
      line: {
        status: 201,
        duration_ms: 120,
        outcomes: 'provider.called payment.created',
        call_ms: 90,
        payment_id: 'p',
        outcome: 'created',
      },
    })
    expect(metrics()).toStrictEqual(['ProviderLatency 90', 'ProviderErrors 0', 'Payments 1', 'Payments 1'])
  })

  it('keeps a line apart that says otherwise of the same field, or that is there twice', async () => {
    const { log, lines, codes, metrics } = aLog()

    await inOneLine(async () => {
      for (const operation of ['get_payment', 'get_payment']) log.info('provider.called', { operation, call_ms: 5 })
      log.info('callback.ignored', { status: 3 })
      log.info('request.completed', { status: 200 })
    })

    expect(codes()).toStrictEqual(['provider.called', 'callback.ignored', 'request.completed'])
    expect(lines.at(-1)).toMatchObject({ line: { status: 200, outcomes: 'provider.called' } })
    expect(metrics().filter((metric) => metric === 'ProviderLatency 5')).toHaveLength(2)
  })

  it('writes a warning and an error at once, and joins nothing to them', async () => {
    const { log, lines, codes } = aLog()

    await inOneLine(async () => {
      log.info('provider.called', { operation: 'get_payment', call_ms: 5 })
      log.warn('callback.deferred', { payment_id: 'p' })
      log.error('request.failed', { status: 500 })
    })

    expect(codes()).toStrictEqual(['callback.deferred', 'request.failed'])
    expect(lines[0]?.line).not.toHaveProperty('outcomes')
    expect(lines[1]).toMatchObject({ level: 'error', line: { status: 500, outcomes: 'provider.called' } })
  })

  it('is over with its last line: what comes after it is a line of its own', async () => {
    const { log, codes } = aLog()

    await inOneLine(async () => {
      log.error('request.failed', { status: 500 })
      log.info('payment.created', METHOD)
    })

    expect(codes()).toStrictEqual(['request.failed', 'payment.created'])
  })

  it('has no lines of a concurrent request, nor of other invocations', async () => {
    const { log, lines } = aLog()
    const request = (payment_id: string) =>
      inOneLine(async () => {
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
