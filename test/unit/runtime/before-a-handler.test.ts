import { describe, expect, it, vi } from 'vitest'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import { handler as receiveCallback } from '../../../functions/callback/receive-provider-callback.ts'
import type { Deps } from '../../../shared/deps.ts'
import { pipeline, probe } from '../../../shared/runtime/injectable.ts'
import { PROBE, PROVEN } from '../../../shared/runtime/release/probe.ts'
import { probeEvent } from '../../../shared/runtime/release/prove-versions.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import { API, anApiClient, call, UNKNOWN_PATH } from '../../support/api-event.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { interceptTable, recordTable, testDeps } from '../../support/test-deps.ts'

const CURRENT = 'current-origin-secret-'.padEnd(64, 'c')
const PREVIOUS = 'previous-origin-secret-'.padEnd(64, 'p')

function behindFront(secret = JSON.stringify({ current: CURRENT })) {
  const deps = testDeps({ stage: { ...testDeps().stage, behindFront: true } })
  const write = (text: string) => deps.secretValues.set(originSecretName('test'), text)
  write(secret)
  return { deps, write }
}

function from(origin: string) {
  return { headers: { 'x-gateway-origin': origin } }
}

async function statusesFrom(deps: Deps, ...origins: readonly string[]) {
  const answers = await Promise.all(origins.map((origin) => call(deps, UNKNOWN_PATH, from(origin))))
  return answers.map(({ status }) => status)
}

describe('origin guard of a stage behind a front', () => {
  it('refuses every other header, and quotes nothing of the secret', async () => {
    for (const value of [
      '',
      PREVIOUS,
      `${CURRENT}x`,
      CURRENT.toUpperCase(),
      `${CURRENT},${CURRENT}`,
      'ü'.repeat(32),
    ]) {
      const answer = await call(behindFront().deps, API.getBalance, from(value))

      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(answer.text).not.toContain(CURRENT)
    }
  })

  it('accepts both secrets during an exchange, and only the new secret after it', async () => {
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
    const get = async (_name: string, fresh?: 'fresh') =>
      JSON.stringify({ current: fresh ? CURRENT : PREVIOUS })

    expect(
      await statusesFrom({ ...deps, secrets: { get } }, PREVIOUS, CURRENT, 'x'.repeat(64)),
    ).toStrictEqual([404, 404, 403])
  })

  it('refuses every caller while the secret is malformed, and quotes nothing of the secret', async () => {
    const texts = ['', CURRENT, '{}', 'null', '[]', `{"current":"${CURRENT}","previous":""}`]
    const values = ['', 'short', null, [CURRENT], `${CURRENT} `].map((current) => ({ current }))
    const more = [{ previous: 'p'.repeat(31) }, { next: PREVIOUS }].map((fields) => ({
      current: CURRENT,
      ...fields,
    }))

    for (const secret of [
      ...texts,
      ...[...values, ...more].map((value) => JSON.stringify(value)),
    ]) {
      const { deps } = behindFront(secret)
      const answers = await Promise.all(
        ['', 'short', CURRENT, PREVIOUS].map((value) => call(deps, UNKNOWN_PATH, from(value))),
      )

      expect([secret, answers.map(({ status }) => status)]).toStrictEqual([
        secret,
        [500, 500, 500, 500],
      ])
      expect(JSON.stringify([answers, deps.lines])).not.toMatch(/origin-secret-|short/)
    }
  })

  it.each([
    ['is missing', async () => undefined],
    ['cannot be read', async () => Promise.reject(new Error('AccessDenied'))],
  ])('lets no caller in while the secret %s', async (_case, get) => {
    const { deps } = behindFront()

    expect(
      await statusesFrom({ ...deps, secrets: { ...deps.secrets, get } }, CURRENT),
    ).toStrictEqual([500])
  })
})

it('origin guard of a stage without a front reads no secret and ignores the header', async () => {
  const get = vi.fn()
  const deps = testDeps()

  expect(
    await statusesFrom({ ...deps, secrets: { ...deps.secrets, get } }, '', 'anything'),
  ).toStrictEqual([404, 404])
  expect(get).not.toHaveBeenCalled()
})

const CONTEXT = lambdaContext('gateway-test-any')

function answeringProbes(deps: Deps, handle: (event: unknown) => Promise<unknown>) {
  return pipeline([probe(deps)], handle)
}

function worker() {
  const seen: unknown[] = []
  return { seen, handle: async (event: unknown) => void seen.push(event) }
}

describe('a probe of any function', () => {
  it('ends before the function does anything, after one read of an absent item', async () => {
    vi.stubEnv('WARM_GET', 'PAYMENT#')
    const { deps, calls } = recordTable(testDeps())
    const { seen, handle } = worker()

    expect(await answeringProbes(deps, handle)(PROBE, CONTEXT)).toStrictEqual(PROVEN)
    expect(seen).toStrictEqual([])
    expect(calls).toMatchObject([{ name: 'get', keys: [{ pk: 'PAYMENT#', sk: 'NOTHING' }] }])
  })

  it('fails when the role lacks the read, with only the class of the error', async () => {
    vi.stubEnv('WARM_GET', 'PAYMENT#')
    const refused = Object.assign(new Error('quotes an item'), { name: 'AccessDeniedException' })
    const deps = interceptTable(testDeps(), { before: () => Promise.reject(refused) })

    await expect(answeringProbes(deps, worker().handle)(PROBE, CONTEXT)).rejects.toThrow(
      /^the table cannot be read: AccessDeniedException$/,
    )
  })

  const OTHER_EVENTS = [
    { Records: [] },
    { source: 'aws.events', detail: {} },
    { client_id: 'x' },
    {},
    null,
    [PROBE],
  ]
  it.each([...OTHER_EVENTS, { body: JSON.stringify(PROBE) }])(
    'is not what a trigger or an operator sends: %j',
    async (event) => {
      const { seen, handle } = worker()

      await answeringProbes(testDeps(), handle)(event, CONTEXT)

      expect(seen).toStrictEqual([event])
    },
  )
})

function named(version: string) {
  return Object.assign(lambdaContext('any'), {
    invokedFunctionArn: `arn:aws:lambda:ap-southeast-3:000000000000:function:any:${version}`,
  })
}

/** The prover names a version. */
async function probeRoute(name: keyof typeof API, deps = testDeps()) {
  const recorded = recordTable(deps)
  const { route, handler } = API[name]
  const event = Object(probeEvent('test', route))
  const { statusCode, body } = await handler.withDeps(recorded.deps)(event, named('$LATEST'))
  return { statusCode, body: JSON.parse(body ?? ''), calls: recorded.calls, deps }
}

describe('a probe of a route', () => {
  it.each(Object.keys(API) as (keyof typeof API)[])(
    'is answered 401 by %s after one read of key and client, and changes nothing',
    async (name) => {
      const { statusCode, body, calls, deps } = await probeRoute(name)

      expect([statusCode, body]).toMatchObject([401, { code: 'auth' }])
      expect(calls.map(({ name: request }) => request)).toStrictEqual(['batchGet'])
      expect([deps.sent, deps.published, deps.webhooks]).toStrictEqual([[], [], []])
    },
  )

  it.each([
    [401, 'past a front', behindFront().deps],
    [401, 'in a closed stage', testDeps({ stage: { ...testDeps().stage, isClosed: true } })],
    [
      500,
      'where the role lacks the read',
      interceptTable(testDeps(), { before: () => Promise.reject(new Error()) }),
    ],
    [
      500,
      'where the origin secret cannot be read',
      testDeps({ stage: { ...testDeps().stage, behindFront: true } }),
    ],
    [500, 'where the origin secret is malformed', behindFront('short').deps],
  ])('is answered %i %s', async (statusCode, _, deps) => {
    expect(await probeRoute('getBalance', deps)).toMatchObject({ statusCode })
  })
})

describe('a function that is invoked by a version’s number', () => {
  const bank = { bank_name: 'BCA', bank_account_no: '0000000666', bank_account_name: 'Thief' }

  it.each(['7', '$LATEST'])('answers probes and does no work: %s', async (version) => {
    const plain = testDeps()
    const client = await aStoredClient(plain)
    const { deps, calls } = recordTable(plain)
    const theft = { client_id: client.clientId, operator: 'prover', bank }

    for (const event of [theft, probeEvent('test', 'any')])
      await expect(updateClient.withDeps(deps)(event, named(version))).rejects.toThrow(
        'only probes',
      )
    expect(calls).toStrictEqual([])
    await expect(updateClient.withDeps(deps)(PROBE, named(version))).resolves.toStrictEqual(PROVEN)
  })

  it('works when it is invoked by the alias, or without a version', async () => {
    const deps = testDeps()
    const { clientId } = await aStoredClient(deps)
    const input = { client_id: clientId, operator: 'admin', bank }

    for (const context of [named('live'), CONTEXT])
      expect(await updateClient.withDeps(deps)(input, context)).toMatchObject({ status: 200 })
  })

  it('a route’s probe with a merchant’s key, or a callback in a probe, goes no further', async () => {
    const plain = testDeps()
    const caller = await anApiClient(plain)
    const { deps, calls } = recordTable(plain)
    const { route, handler } = API.createPayment
    const event = Object(probeEvent('test', route))
    event.headers.authorization = caller.authorization
    event.body = JSON.stringify({ method: 'qris', amount: 10_000, currency: 'IDR' })

    const answer = await handler.withDeps(deps)(event, named('7'))
    const callback = await receiveCallback.withDeps(deps)(event, named('7'))

    expect([answer.statusCode, callback.statusCode]).toStrictEqual([401, 401])
    expect(calls.map(({ name }) => name)).toStrictEqual(['batchGet'])
    expect(plain.provider.countOf('createRequest')).toBe(0)
  })
})
