import { describe, expect, it, vi } from 'vitest'
import { ENV, readConfig } from '../../../shared/runtime/config.ts'
import { warmTable } from '../../../shared/runtime/warm-table.ts'
import { interceptTable, recordTable, testDeps } from '../../support/test-deps.ts'

describe('the environment of a deployed function', () => {
  const stageOf = (settings?: string) =>
    readConfig({ [ENV.stage]: 'prod', [ENV.table]: 'gateway-prod', [ENV.settings]: settings }).stage

  it('leaves a stage open, without a front and with the defaults of a payer, unless its settings say otherwise', () => {
    const payer = { defaultReturnUrl: 'https://example.com/', defaultDisplayName: 'Payment' }
    const own = { isClosed: true, behindFront: true, hasDomain: true, httpsPortOnly: true }
    const figures = { providerFees: 'invoiced', providerCallsPerMinute: 6_000, keyLifetimeDays: 90 }
    const fixed = { name: 'prod', allowLoopbackWebhooks: false }

    expect(stageOf()).toStrictEqual({ ...fixed, ...payer })
    expect(stageOf(JSON.stringify({ ...own, ...figures }))).toStrictEqual({
      ...fixed,
      ...payer,
      ...own,
      ...figures,
    })
  })

  it.each([
    '',
    'closed',
    '{"isclosed":true}',
    '{"isClosed":"true"}',
    '{"behindFront":"cloudfront"}',
    '{"allowLoopbackWebhooks":true}',
    '{"providerFees":"Invoiced"}',
    '{"defaultReturnUrl":"example"}',
    '{"defaultDisplayName":""}',
    ...['"6000"', '0', '-1', '0.5', 'null'].map((value) => `{"providerCallsPerMinute":${value}}`),
  ])('stops the function at the settings %s instead of opening it', (settings) => {
    expect(() => stageOf(settings)).toThrow(ENV.settings)
  })
})

describe('the warm read', () => {
  const NOTHING = { pk: 'PAYMENT#', sk: 'NOTHING' }
  const forEver = () => new Promise<void>(() => {})

  it.each([
    ['NONE', '', []],
    ['WARM_BATCH_GET', 'PAYMENT#', [{ name: 'batchGet', keys: [NOTHING] }]],
    ['WARM_GET', 'PAYMENT#', [{ name: 'get', keys: [NOTHING] }]],
    [
      'WARM_QUERY',
      'PAYMENT#',
      [{ query: { partition: ['PAYMENT#'], limit: 1, fields: ['pk', 'ttl'] } }],
    ],
    [
      'WARM_INDEX',
      'by-due',
      [{ query: { index: 'by-due', partition: ['NOTHING', -1], limit: 1 } }],
    ],
  ])('is the read that the bundler put in: %s %s', async (name, value, reads) => {
    vi.stubEnv(name, value)
    const { deps, calls } = recordTable(testDeps())

    await warmTable({ table: deps.table, sleep: forEver })

    expect(calls).toMatchObject(reads)
  })

  it('never stops a start: a table that refuses or hangs is left to the first request', async () => {
    vi.stubEnv('WARM_GET', 'PAYMENT#')
    const refusing = interceptTable(testDeps(), {
      before: () => Promise.reject(new Error('refused')),
    })
    const hanging = interceptTable(testDeps(), { before: forEver })

    await expect(warmTable({ table: refusing.table, sleep: forEver })).resolves.toBeUndefined()
    await expect(
      warmTable({ table: hanging.table, sleep: async () => {} }),
    ).resolves.toBeUndefined()
  })
})
