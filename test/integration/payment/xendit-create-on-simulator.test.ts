import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { aSimulator } from '../../support/provider-simulator-harness.ts'
import { type Asked, aCreateInput, adapter, arm, createOn, TIMEOUT_MS } from '../../support/xendit-provider.ts'

/*
 * Goal: the adapter and the simulator agree, so that what the local gateway and the simulation prove about one holds for
 * the other. Method: the real adapter talks HTTP to the real simulator; nothing is scripted. What the adapter makes of
 * answers the simulator never gives is in the unit tests.
 */

const SILENT: ReadonlySet<string> = new Set(['timeout', 'timeout_after_commit', 'slow'])

describe('the adapter on the simulator: create', () => {
  it.each<[Asked, RegExp | undefined]>([
    [{ channelCode: 'BCA' }, /^\d{15}$/],
    [{ channelCode: 'BNI' }, /^\d{16}$/],
    [{ channelCode: 'BRI' }, /^\d{18}$/],
    [{ channelCode: 'MANDIRI' }, /^\d{16}$/],
    [{ channelCode: 'PERMATA' }, /^\d{16}$/],
    [{ method: 'qris', channelCode: undefined }, /^000201.*6304[0-9A-F]{4}$/],
    [{ method: 'ewallet', channelCode: 'OVO', phone: '+6281234567890' }, undefined],
    [{ method: 'ewallet', channelCode: 'DANA' }, /^http:\/\/127\.0\.0\.1:\d+\/checkout\//],
    [{ method: 'ewallet', channelCode: 'LINKAJA' }, /^http:\/\/127\.0\.0\.1:\d+\/checkout\//],
    [{ method: 'ewallet', channelCode: 'SHOPEEPAY' }, /^http:\/\/127\.0\.0\.1:\d+\/checkout\//],
    [{ method: 'ewallet', channelCode: 'GOPAY' }, /^http:\/\/127\.0\.0\.1:\d+\/checkout\//],
    [{ method: 'ewallet', channelCode: 'ASTRAPAY' }, /^http:\/\/127\.0\.0\.1:\d+\/checkout\//],
  ])('opens a request and gets the destination of its channel for %j', async (input, destination) => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)

    const request = await createOn(provider, input)

    expect(request.destination).toEqual(destination && expect.stringMatching(destination))
    expect(await provider.getRequest(request.paymentRequestId, TIMEOUT_MS)).toStrictEqual({
      kind: 'found',
      value: request,
    })
  })

  it.each<[string, unknown, object]>([
    ['timeout', undefined, { kind: 'unknown', reason: 'timeout' }],
    ['timeout_after_commit', undefined, { kind: 'unknown', reason: 'timeout' }],
    ['slow', 60_000, { kind: 'unknown', reason: 'timeout' }],
    ['http_500', undefined, { kind: 'unknown', reason: 'HTTP 500 SERVER_ERROR', answered: true }],
    ['http_503', undefined, { kind: 'unknown', reason: 'HTTP 503 CHANNEL_UNAVAILABLE', answered: true }],
    ['http_429', undefined, { kind: 'not_executed', reason: 'RATE_LIMIT_EXCEEDED' }],
    ['refuse', 'INVALID_MERCHANT_SETTINGS', { kind: 'refused', code: 'INVALID_MERCHANT_SETTINGS', ofAccount: true }],
    ['refuse', 'PAYMENT_REQUEST_RATE_LIMITED', { kind: 'not_executed', reason: 'PAYMENT_REQUEST_RATE_LIMITED' }],
  ])('classes the fault %s %s', async (fault, value, expected) => {
    await using simulator = await aSimulator()
    await arm(simulator, 'create', fault, value)

    // Short only where the deadline is what ends the call.
    const timeoutMs = SILENT.has(fault) ? 150 : TIMEOUT_MS

    expect(await adapter(simulator).createRequest(aCreateInput(), timeoutMs)).toStrictEqual(expected)
  })

  it('is refused for an amount, a channel or a key that the provider does not take', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)

    const answers = [
      await provider.createRequest(aCreateInput({ amountMinor: minor(0) }), TIMEOUT_MS),
      await provider.createRequest(aCreateInput({ channelCode: 'NOBANK' }), TIMEOUT_MS),
      await adapter(simulator, 'xnd_wrong').createRequest(aCreateInput(), TIMEOUT_MS),
    ]

    expect(answers).toStrictEqual([
      { kind: 'refused', code: 'API_VALIDATION_ERROR' },
      { kind: 'refused', code: 'API_VALIDATION_ERROR' },
      { kind: 'refused', code: 'INVALID_API_KEY', ofAccount: true },
    ])
  })
})
