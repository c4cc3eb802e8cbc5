import { describe, expect, it, vi } from 'vitest'
import type { Deps } from '../../../shared/deps.ts'
import { ENV, readConfig } from '../../../shared/runtime/config.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import { API, call, UNKNOWN_PATH } from '../../support/api-event.ts'
import { testDeps } from '../../support/test-deps.ts'

const CURRENT = 'current-origin-secret-'.padEnd(64, 'c')
const PREVIOUS = 'previous-origin-secret-'.padEnd(64, 'p')

/** A stage behind a front, with the origin secret as an operator or Secrets Manager wrote it. */
const behindFront = (secret = JSON.stringify({ current: CURRENT })) => {
  const deps = testDeps({ stage: { ...testDeps().stage, behindFront: true } })
  const write = (text: string) => deps.secretValues.set(originSecretName('test'), text)
  write(secret)
  return { deps, write }
}

const from = (origin: string) => ({ headers: { 'x-gateway-origin': origin } })

/** The statuses of requests with these origins. */
const statusesFrom = async (deps: Deps, ...origins: readonly string[]) => {
  const answers = await Promise.all(origins.map((origin) => call(deps, UNKNOWN_PATH, from(origin))))
  return answers.map(({ status }) => status)
}

describe('origin guard of a stage behind a front', () => {
  // More values that are nearly right, by the same comparison: `fuzz-callbacks.test.ts`.
  it('refuses every other header, and quotes none of the secret', async () => {
    for (const value of ['', PREVIOUS, `${CURRENT}x`, CURRENT.toUpperCase(), `${CURRENT},${CURRENT}`, 'ü'.repeat(32)]) {
      const answer = await call(behindFront().deps, API.getBalance, from(value))

      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(answer.text).not.toContain(CURRENT)
    }
  })

  it('accepts both values while one is being exchanged for the other, and the old one no longer after it', async () => {
    const { deps, write } = behindFront(JSON.stringify({ current: CURRENT, previous: PREVIOUS }))

    const during = await statusesFrom(deps, CURRENT, PREVIOUS)
    write(JSON.stringify({ current: CURRENT }))
    const after = await statusesFrom(deps, CURRENT, PREVIOUS)

    expect([during, after]).toStrictEqual([
      [404, 404],
      [404, 403],
    ])
  })

  it('accepts a new value that its cache does not have yet', async () => {
    const { deps } = behindFront()
    const get = async (_name: string, fresh?: 'fresh') => JSON.stringify({ current: fresh ? CURRENT : PREVIOUS })

    expect(await statusesFrom({ ...deps, secrets: { get } }, PREVIOUS, CURRENT, 'x'.repeat(64))).toStrictEqual([
      404, 404, 403,
    ])
  })

  it('refuses every caller while the secret is malformed, and quotes none of it', async () => {
    const texts = ['', CURRENT, '{}', 'null', '[]', `{"current":"${CURRENT}","previous":""}`]
    const values = ['', 'short', null, [CURRENT], `${CURRENT} `].map((current) => ({ current }))
    const more = [{ previous: 'p'.repeat(31) }, { next: PREVIOUS }].map((other) => ({ current: CURRENT, ...other }))

    for (const secret of [...texts, ...[...values, ...more].map((value) => JSON.stringify(value))]) {
      const { deps } = behindFront(secret)
      const answers = await Promise.all(
        ['', 'short', CURRENT, PREVIOUS].map((value) => call(deps, UNKNOWN_PATH, from(value))),
      )

      expect([secret, answers.map(({ status }) => status)]).toStrictEqual([secret, [500, 500, 500, 500]])
      expect(JSON.stringify([answers, deps.lines])).not.toMatch(/origin-secret-|short/)
    }
  })

  it.each([
    ['is missing', async () => undefined],
    ['cannot be read', async () => Promise.reject(new Error('AccessDenied'))],
  ])('lets no caller in while the secret %s', async (_case, get) => {
    const { deps } = behindFront()

    expect(await statusesFrom({ ...deps, secrets: { ...deps.secrets, get } }, CURRENT)).toStrictEqual([500])
  })
})

it('origin guard of a stage without a front asks for no secret and minds no header', async () => {
  const get = vi.fn<Deps['secrets']['get']>()
  const deps = testDeps()

  const statuses = await statusesFrom({ ...deps, secrets: { ...deps.secrets, get } }, '', 'anything')

  expect(statuses).toStrictEqual([404, 404])
  expect(get).not.toHaveBeenCalled()
})

describe('the environment of a deployed function', () => {
  const stageOf = (settings?: string) =>
    readConfig({ [ENV.stage]: 'prod', [ENV.table]: 'gateway-prod', [ENV.settings]: settings }).stage

  it('leaves a stage open, without a front and with the defaults of a payer, unless its settings say otherwise', () => {
    const payer = { defaultReturnUrl: 'https://example.com/', defaultDisplayName: 'Payment' }
    const own = { isClosed: true, behindFront: true, hasDomain: true, httpsPortOnly: true } as const
    const figures = { providerFees: 'invoiced', providerCallsPerMinute: 6_000, keyLifetimeDays: 90 } as const
    const fixed = { name: 'prod', allowLoopbackWebhooks: false }

    expect(stageOf()).toStrictEqual({ ...fixed, ...payer })
    expect(stageOf(JSON.stringify({ ...own, ...figures }))).toStrictEqual({ ...fixed, ...payer, ...own, ...figures })
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
