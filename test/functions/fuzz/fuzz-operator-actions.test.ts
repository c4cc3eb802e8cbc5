/** Goal: an operator who mistypes a field gets a refusal that changes nothing. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import {
  fillIn,
  hostileJson,
  hostileText,
  nearlyRight,
  objectOf,
  weighted,
} from '../../support/hostile-values.ts'
import { handlerOf, invokeAdmin, invokeWhole } from '../../support/operator-actions.ts'
import { operatorWorld, RIGHT_PAYLOADS } from '../../support/operator-world.ts'
import { runs } from '../../support/runs.ts'
import { linesOf, type MemoryDeps, memoryDeps } from '../../support/test-deps.ts'

const ACTIONS = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  client_id: fc.constantFrom('$stranger', UNKNOWN_ID),
  payment_id: fc.constantFrom('$pending', UNKNOWN_ID),
  settlement_id: fc.constantFrom('$settlement', '$failed', UNKNOWN_ID),
  suspense_id: fc.constantFrom('py-unknown', `${UNKNOWN_ID}#fee_lost`, 'x'.repeat(3_000), ''),
  bank: fc.oneof(
    fc.constant(null),
    objectOf({
      bank_name: hostileText,
      bank_account_no: hostileText,
      bank_account_name: hostileText,
    }),
  ),
  url: fc.constantFrom('https://10.0.0.1/', 'http://merchant.example/', 'https://a@b.example/'),
  event_types: fc.array(fc.constantFrom('payment.succeeded', 'payment.failed', '*')),
  status: fc.constantFrom('recorded', 'abandoned', 'skipped', 'succeeded', 'scheduled'),
  since: fc.constantFrom(
    '2026-11-20T04:00:00.123456+07:00',
    '2026-13-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
  ),
  cursor: hostileJson.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
  format: fc.constantFrom('json', 'csv'),
  from: fc.constantFrom('', 'register', 'no part'),
}

const world = memoryDeps()
const { names } = await operatorWorld(world)

function copyOfWorld() {
  const copy = memoryDeps({}, world.stored.items())
  copy.clock.set(world.now())
  return { ...copy, provider: world.provider }
}

/** An action may sum a window before it is refused, so windows are left out. */
function tracesOf({ changes, sent, published }: MemoryDeps) {
  return {
    written: changes.filter(({ key }) => !key.pk.endsWith('#WINDOWS')).length,
    sent: sent.length,
    published: published.length,
  }
}

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  operator: [undefined, '', '  ', 7, 'x'.repeat(101), 'a\nb', 'a\u202eb', 'a\ud800b'],
  notes: [undefined, '', '  ', 'x'.repeat(1_001), 'a\ud800b'],
  expected: [undefined, []],
}

const UNKNOWN: Readonly<Record<string, readonly unknown[]>> = {
  force: [1],
  constructor: [null],
  ['__proto__']: [null],
}

const FOUND_FIRST = ACTIONS.flatMap(({ name }) => {
  const fields = Object.keys(RIGHT_PAYLOADS[name] ?? {})
  // A key is looked for by its own id, for any client; payments are found by more than their
  // client.
  if (name === 'revoke-api-key' || name === 'find-payments') return []
  const what = ['settlement', 'endpoint', 'payment', 'client'].find((kind) =>
    fields.includes(`${kind}_id`),
  )
  return what === undefined ? [] : [{ name, what }]
})

async function arrange({ name }: { readonly name: string }) {
  const deps = copyOfWorld()
  const before = tracesOf(deps)
  return {
    deps,
    right: Object(fillIn(RIGHT_PAYLOADS[name], names)),
    ask: (payload: unknown) => invokeAdmin(name, deps, payload),
    expectUnchanged: () => expect(tracesOf(deps)).toStrictEqual(before),
  }
}

describe('every operator action with any payload', () => {
  it('has a valid payload in this test', () => {
    expect(Object.keys(RIGHT_PAYLOADS)).toStrictEqual(ACTIONS.map(({ name }) => name))
  })

  it.each(ACTIONS)('$name accepts its right payload, and null in other fields', async (spec) => {
    const { deps, right } = await arrange(spec)
    const handler = await handlerOf(spec.name)
    const nulls = Object.fromEntries(
      Object.keys(handler.input.entries).map((field) => [field, null]),
    )

    const { status, audit } = await invokeWhole(spec.name, deps, { ...nulls, ...right })

    expect(status).toBe(200)
    expect(linesOf(deps, 'operator.action')).toHaveLength(1)
    // A change answers who made it, when and in which invocation, as its record says.
    const records = deps.changes.flatMap(({ key, after: item }) =>
      key.pk.startsWith('AUDIT#') && key.sk !== 'HEAD' ? [Object(item)] : [],
    )
    const { operator, at, request_id } = records.at(-1) ?? {}
    expect(audit).toStrictEqual(
      records.length > 0 ? { operator: 'ayu', at, request_id } : undefined,
    )
    // Only the audit writes what nobody requested: its own findings.
    const isRequested = deps.changes.length > 0 && spec.name !== 'audit-ledger'
    const types = isRequested ? ['ayu', 'string'] : [undefined, 'undefined']
    expect([operator, typeof request_id]).toStrictEqual(types)
  })

  const LISTS = ACTIONS.filter(({ name }) => /^(list|find)-/.test(name))
  it.each(LISTS)('$name has at most 100 rows a page', async (spec) => {
    const { right, ask } = await arrange(spec)

    expect((await ask({ ...right, per_page: 101 })).body).toMatchObject({
      pagination: { page: 1, per_page: 100 },
    })
  })

  it.each(ACTIONS)(
    '$name refuses a non-object, an unknown field and every wrong value',
    async (spec) => {
      const { deps, right, ask, expectUnchanged } = await arrange(spec)
      const faults = Object.entries({ ...WRONG, ...UNKNOWN })
        .filter(([field]) => field in right || Object.hasOwn(UNKNOWN, field))
        .flatMap(([field, values]) => values.map((value) => [field, { ...right, [field]: value }]))
      const noObjects = [null, [], [{}], '', '{}', 0, true].map((payload) => ['body', payload])
      const reasons = new Map([
        ...Object.keys(UNKNOWN).map((name) => [name, 'unknown field'] as const),
        ['body', 'must be an object'],
      ])

      for (const [field, payload] of [...noObjects, ...faults]) {
        const { status, body } = await ask(payload)

        expect([field, payload, status]).toStrictEqual([field, payload, 422])
        const field_errors = { [field]: [reasons.get(field) ?? expect.any(String)] }
        expect(body).toMatchObject({ field_errors, action_hint: expect.any(String) })
        expect(deps.lines.splice(0)).toMatchObject([{ code: 'operator.refused' }])
      }
      expectUnchanged()
    },
  )

  it.each(ACTIONS)('$name refuses each field that is nested too deeply', async (spec) => {
    const { deps, right, ask, expectUnchanged } = await arrange(spec)
    const { entries } = (await handlerOf(spec.name)).input
    const fields = Object.keys(entries).filter((name) => name !== 'lines')
    const values = [3_000, 100_000].flatMap((levels) => {
      // valibot leaves a record's field of the name `constructor` unread.
      const value: unknown = JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
      return [value, { ...right['payload'], constructor: value }]
    })

    for (const field of fields)
      for (const value of values) expect((await ask({ ...right, [field]: value })).status).toBe(422)

    for (const line of right.lines ?? [])
      for (const value of values)
        expect((await ask({ ...right, lines: [{ ...line, value }] })).body).toMatchObject({
          lines: [{ reason: expect.stringContaining('nested too deeply') }],
        })
    expect(deps.lines.filter(({ level }) => level === 'error')).toStrictEqual([])
    expectUnchanged()
  })

  it.each(FOUND_FIRST)(
    '$name answers 404 for an unknown $what, and changes nothing',
    async (spec) => {
      const { right, ask, expectUnchanged } = await arrange(spec)

      const refusal = {
        status: 404,
        body: { message: `${spec.what} not found`, code: 'not_found' },
      }
      for (const id of [UNKNOWN_ID, 'x', '']) {
        expect(await ask({ ...right, [`${spec.what}_id`]: id })).toStrictEqual(refusal)
      }
      expectUnchanged()
    },
  )

  it.each(ACTIONS)(
    '$name succeeds, or refuses in the envelope and changes nothing',
    async (spec) => {
      const handler = await handlerOf(spec.name)
      const values = Object.keys(handler.input.entries).map((field) => [field, VALUES[field] ?? []])
      const anyChange = nearlyRight(RIGHT_PAYLOADS[spec.name] ?? {}, Object.fromEntries(values))
      const anyPayload = weighted<unknown>(
        [9, anyChange],
        [1, fc.option(hostileJson, { nil: undefined })],
      )

      await fc.assert(
        fc.asyncProperty(fc.array(anyPayload, { minLength: 1, maxLength: 2 }), async (payloads) => {
          const deps = copyOfWorld()
          for (const payload of payloads) {
            const before = tracesOf(deps)

            const { status, body } = await invokeAdmin(spec.name, deps, fillIn(payload, names))

            expect([200, 404, 409, 422]).toContain(status)
            const envelope = ['message', 'code', 'field_errors', 'action_hint']
            if (status !== 200)
              expect(envelope).toStrictEqual(expect.arrayContaining(Object.keys(body)))
            const isReadOnly = !spec.table.PutItem && !spec.table.UpdateItem
            // Money that left for a failed settlement is told before the refusal.
            const isTold = String(Object(body).message).endsWith('marked paid in status=failed')
            const published = before.published + Number(isTold)
            if (status !== 200 || isReadOnly)
              expect(tracesOf(deps)).toStrictEqual({ ...before, published })
          }
        }),
        { numRuns: runs(6) },
      )
    },
  )
})
