import type { SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { issueApiKey } from '../../../shared/client/api-key-store.ts'
import { adminHandler } from '../../../shared/runtime/admin-handler.ts'
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts'
import { queueHandler } from '../../../shared/runtime/worker-handlers.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import { anApiClient, call } from '../../support/api-event.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import { testDeps } from '../../support/test-deps.ts'

const CONTEXT = lambdaContext('gateway-test-any')

describe('the middlewares of an API endpoint', () => {
  const SECRET = 'the-secret-of-the-front-'.padEnd(40, 'x')

  /** In the order in which they run. The last is the handler itself. */
  const REFUSALS = [
    ['closedStage', 500, 'the gateway is closed for maintenance'],
    ['frontOrigin', 403, 'requests must go to the public address of this API'],
    ['authentication, of a key', 401, 'invalid credentials'],
    ['authentication, of a change', 403, 'this API key may only read'],
    ['points', 429, 'the limit of 1 points a second is used up'],
    ['parsedQuery', 422, 'unknown query parameter: filter'],
    ['the handler', 200, undefined],
  ] as const
  type Name = (typeof REFUSALS)[number][0]

  /** Sends a change that has these faults and no other. */
  async function ask(faults: ReadonlySet<Name>) {
    const deps = testDeps({
      stage: { ...testDeps().stage, isClosed: faults.has('closedStage'), behindFront: true },
    })
    deps.secretValues.set(originSecretName('test'), JSON.stringify({ current: SECRET }))
    const { clientId } = await anApiClient(deps, { rateLimitPerSecond: 1 })
    const isReadOnly = faults.has('authentication, of a change')
    const key = await issueApiKey(deps, {
      clientId,
      operator: 'ayu',
      permissions: isReadOnly ? 'read_only' : 'full',
      expiresInSeconds: null,
    })
    let ran = 0
    const handler = apiHandler({ query: v.strictObject({}) }, async () => {
      ran++
      return ok({})
    })
    const authorization = faults.has('authentication, of a key') ? 'none' : `Bearer ${key.text}`
    const request = {
      caller: { authorization },
      headers: { 'x-gateway-origin': faults.has('frontOrigin') ? 'another' : SECRET },
      ...(faults.has('parsedQuery') && { query: { filter: 'x' } }),
    }
    const send = () => call(deps, { route: 'POST /v1/anything', handler }, request)
    const before = []
    if (faults.has('points')) before.push(await send(), await send(), await send())
    ran = 0
    const { status, body } = await send()
    return { answer: [status, body['message']], ran, lines: deps.lines.slice(before.length) }
  }

  it('refuse in the order of the list', async () => {
    const names = REFUSALS.map(([name]) => name)

    const answers = []
    for (const at of names.keys()) answers.push((await ask(new Set(names.slice(at)))).answer)

    expect(answers).toStrictEqual(REFUSALS.map(([, status, message]) => [status, message]))
  })

  it('charge the units of a request that its query refused, and none of a refused key', async () => {
    const deps = testDeps()
    const caller = await anApiClient(deps, { rateLimitPerSecond: 1_000 })
    const handler = apiHandler({ query: v.strictObject({}) }, async () => ok({}))
    const endpoint = { route: 'GET /v1/anything', handler }
    const uncounted = () =>
      [...(deps.memory.rateUses ?? new Map()).values()].map((use) => use.uncounted.points)

    await call(deps, endpoint, { caller: { authorization: 'none' } })
    const afterKey = uncounted()
    await call(deps, endpoint, { caller, query: { filter: 'x' } })

    expect([afterKey, uncounted()]).toStrictEqual([[], [1]])
  })
})

describe('the middlewares of a queue', () => {
  const handler = queueHandler(v.object({ n: v.number() }), async ({ n }) => {
    if (n === 2) throw new Error('failed')
  })
  const eventOf = (...bodies: readonly string[]) =>
    ({ Records: bodies.map((body, at) => ({ messageId: `m${at}`, body })) }) as SQSEvent

  it('return only failed and unreadable messages, with one line for each', async () => {
    const deps = testDeps()

    const answer = await handler.withDeps(deps)(
      eventOf('{"n":1}', '{"n":2}', 'no JSON', '{"m":1}'),
      CONTEXT,
    )

    const failed = ['m1', 'm2', 'm3']
    expect(answer).toStrictEqual({
      batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })),
    })
    expect(deps.lines.map(({ code, fields }) => [code, fields['message_id']])).toStrictEqual(
      failed.map((id) => ['message.failed', id]),
    )
  })
})

describe('the middlewares of an operator action', () => {
  const input = v.strictObject({ name: v.optional(v.string()), notes: v.optional(v.string()) })
  const handler = adminHandler({ summary: 'Acts.', input }, async ({ name }, { invocation }) => {
    if (name === 'fails') throw new Error('quotes an item')
    if (name === 'records') invocation?.recorded({ subject: 'x' } as never)
    return { name }
  })

  it('take a missing payload as an empty one', async () => {
    expect(await handler.withDeps(testDeps())(undefined, CONTEXT)).toMatchObject({ status: 200 })
    expect(await handler.withDeps(testDeps())(null, CONTEXT)).toMatchObject({ status: 422 })
  })
})
