import type { SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { adminHandler } from '../../../shared/runtime/admin-handler.ts'
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts'
import { queueHandler } from '../../../shared/runtime/worker-handlers.ts'
import { anApiClient, call } from '../../support/api-event.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import { testDeps } from '../../support/test-deps.ts'

const CONTEXT = lambdaContext('gateway-test-any')

describe('the middlewares of an API endpoint', () => {
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
  const handler = queueHandler(v.object({ n: v.number() }), async (_, { n }) => {
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

it('an operator action takes a missing payload as an empty one', async () => {
  const handler = adminHandler({ summary: 'Acts.', input: v.strictObject({}) }, async () => ({}))

  expect(await handler.withDeps(testDeps())(undefined, CONTEXT)).toMatchObject({ status: 200 })
})
