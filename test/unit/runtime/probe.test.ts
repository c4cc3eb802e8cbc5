import { describe, expect, it, vi } from 'vitest'
import { answeringProbes } from '../../../shared/runtime/injectable.ts'
import { PROBE, PROVEN } from '../../../shared/runtime/release/probe.ts'
import { probeEvent } from '../../../shared/runtime/release/prove-versions.ts'
import { warmTable } from '../../../shared/runtime/warm-table.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import { API } from '../../support/api-event.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import { interceptTable, recordTable, testDeps } from '../../support/test-deps.ts'

const CONTEXT = lambdaContext('gateway-test-any')

const worker = () => {
  const seen: unknown[] = []
  return { seen, handle: async (event: unknown) => void seen.push(event) }
}

describe('a probe of any function', () => {
  it('ends before the function does anything, after one read of nothing', async () => {
    vi.stubEnv('WARM_GET', 'PAYMENT#')
    const { deps, calls } = recordTable(testDeps())
    const { seen, handle } = worker()

    const answer = await answeringProbes(deps, handle)(PROBE, CONTEXT)

    expect(answer).toStrictEqual(PROVEN)
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

  const OTHERS = [{ Records: [] }, { source: 'aws.events', detail: {} }, { client_id: 'x' }, undefined, null, [PROBE]]
  it.each([...OTHERS, { body: JSON.stringify(PROBE) }])(
    'is not what a trigger or an operator sends: %j',
    async (event) => {
      const { seen, handle } = worker()

      await answeringProbes(testDeps(), handle)(event, CONTEXT)

      expect(seen).toStrictEqual([event])
    },
  )
})

const probed = async (name: keyof typeof API, deps = testDeps()) => {
  const recorded = recordTable(deps)
  const { route, handler } = API[name]
  const event = Object(probeEvent('test', route))
  const { statusCode, body } = await handler.withDeps(recorded.deps)(event, CONTEXT)
  return { statusCode, body: JSON.parse(body ?? ''), calls: recorded.calls, deps }
}

const behindFront = (secret: string | undefined) => {
  const deps = testDeps({ stage: { ...testDeps().stage, behindFront: true } })
  if (secret !== undefined) deps.secretValues.set(originSecretName('test'), secret)
  return deps
}

describe('a probe of a route', () => {
  it.each(Object.keys(API) as (keyof typeof API)[])(
    'is answered 401 by %s after one read of key and client, and changes nothing',
    async (name) => {
      const { statusCode, body, calls, deps } = await probed(name)

      expect([statusCode, body]).toMatchObject([401, { code: 'auth' }])
      expect(calls.map((call) => call.name)).toStrictEqual(['batchGet'])
      expect([deps.sent, deps.published, deps.webhooks]).toStrictEqual([[], [], []])
    },
  )

  it.each([
    [401, 'past a front', behindFront(JSON.stringify({ current: 'c'.repeat(64) }))],
    [401, 'in a closed stage', testDeps({ stage: { ...testDeps().stage, isClosed: true } })],
    [500, 'where the role lacks the read', interceptTable(testDeps(), { before: () => Promise.reject(new Error()) })],
    [500, 'where the origin secret cannot be read', behindFront(undefined)],
    [500, 'where the origin secret is malformed', behindFront('short')],
  ])('is answered %i %s', async (statusCode, _, deps) => {
    expect(await probed('getBalance', deps)).toMatchObject({ statusCode })
  })
})

describe('the warm read', () => {
  const NOTHING = { pk: 'PAYMENT#', sk: 'NOTHING' }
  const forEver = () => new Promise<void>(() => {})

  it.each([
    ['NONE', '', []],
    ['WARM_BATCH_GET', 'PAYMENT#', [{ name: 'batchGet', keys: [NOTHING] }]],
    ['WARM_GET', 'PAYMENT#', [{ name: 'get', keys: [NOTHING] }]],
    ['WARM_QUERY', 'PAYMENT#', [{ query: { partition: ['PAYMENT#'], limit: 1, fields: ['pk', 'ttl'] } }]],
    ['WARM_INDEX', 'by-due', [{ query: { index: 'by-due', partition: ['NOTHING', -1], limit: 1 } }]],
  ])('is the one that the bundler put in: %s %s', async (name, value, reads) => {
    vi.stubEnv(name, value)
    const { deps, calls } = recordTable(testDeps())

    await warmTable({ table: deps.table, sleep: forEver })

    expect(calls).toMatchObject(reads)
  })

  it('never stops a start: a table that refuses or hangs is left to the first request', async () => {
    vi.stubEnv('WARM_GET', 'PAYMENT#')
    const refusing = interceptTable(testDeps(), { before: () => Promise.reject(new Error('refused')) })
    const hanging = interceptTable(testDeps(), { before: forEver })

    await expect(warmTable({ table: refusing.table, sleep: forEver })).resolves.toBeUndefined()
    await expect(warmTable({ table: hanging.table, sleep: async () => {} })).resolves.toBeUndefined()
  })
})
