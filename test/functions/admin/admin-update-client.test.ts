import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { requireClient } from '../../../shared/client/client-store.ts'
import { addMs } from '../../../shared/time.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  TYPED_BANK,
  withClient,
} from '../../support/operator-actions.ts'
import { beforeCommit, failingOn, type TestDeps, withoutTopic } from '../../support/test-deps.ts'

async function aMerchant(fields?: Partial<Client>) {
  const world = await withClient({}, fields)
  const change = (input: object, ownDeps?: TestDeps) => world.act('update-client', input, ownDeps)
  const show = async () =>
    (await invokeAdmin('get-client', world.deps, { client_id: world.clientId })).body
  return { ...world, change, show, storedClient: () => requireClient(world.deps, world.clientId) }
}

describe('update-client (design section 7)', () => {
  it('changes only the given fields, records a repeated request once, and clears optional fields with null', async () => {
    const optional = { returnUrl: 'https://old.example/', rateLimitPerSecond: 5 }
    const { deps, client, change, show, trail, storedClient } = await aMerchant(optional)
    const before = await show()
    const changes = { settlement_floor_minor: 25_000, bank: TYPED_BANK }
    deps.clock.advance(60)

    const answer = await change({ operator: 'budi', ...changes })
    const repeated = await change({ operator: 'budi', ...changes })
    const unchanged = await change({ operator: 'budi', settlement_floor_minor: 25_000 })

    const after = { ...before, ...changes, bank_since: deps.now() }
    const reply = { status: 200, body: after }
    expect([answer, repeated, unchanged]).toStrictEqual([reply, reply, reply])
    expect(await show()).toStrictEqual(after)
    expect((await trail()).slice(1)).toStrictEqual([
      { operator: 'budi', action: 'update-client', before, after },
    ])
    await change({ bank: null, return_url: null, rate_limit_per_second: null })
    const {
      returnUrl: _,
      rateLimitPerSecond: __,
      ...remaining
    } = { ...client, settlementFloorMinor: 25_000, hadBank: true }
    expect(await storedClient()).toStrictEqual(remaining)
  })

  it.each([
    [{}, { message: 'body: name a field to change' }],
    [
      { name: 'Other', rate_limit_per_second: 10_001 },
      { field_errors: { rate_limit_per_second: ['must be at most 10000'] } },
    ],
  ])('refuses %j and changes nothing', async (changes, body) => {
    const { change, show } = await aMerchant()
    const before = await show()

    expect(await change(changes)).toMatchObject({
      status: 422,
      body: { code: 'validation', ...body },
    })
    expect(await show()).toStrictEqual(before)
  })

  it('keeps the code of the bank and the digits of the account', async () => {
    const { change, show } = await aMerchant()
    const typed = { bank_name: 'Bank BCA (014)', bank_account_no: '001-234 567.8' }

    await change({ bank: { ...typed, bank_account_name: 'Cafe\u0301' } })

    expect(await show()).toMatchObject({
      bank: { bank_name: 'BCA', bank_account_no: '0012345678', bank_account_name: 'Caf\u00e9' },
    })
  })

  it('changes a client on top of what another operator has changed meanwhile', async () => {
    const { deps, client, change, show } = await aMerchant()
    const overtaken = beforeCommit(deps, () => change({ rate_limit_per_second: 8 }))

    expect(await change({ name: 'Other' }, overtaken)).toMatchObject({ status: 200 })

    const after = { name: 'Other', rate_limit_per_second: 8 }
    expect(await show()).toMatchObject(after)
    expect(await auditRecordsOf(deps, client.clientId)).toContainEqual(
      expect.objectContaining({ after: expect.objectContaining(after) }),
    )
  })

  const OTHER_BANK = {
    bank_name: 'BNI',
    bank_account_no: '0099887766',
    bank_account_name: 'PT Lain',
  }

  it('alerts once before it replaces bank details, also removed bank details, and shows no full account number', async () => {
    const { deps, client, change, show } = await aMerchant({})
    await change({ bank: TYPED_BANK })
    deps.clock.advance(60)
    await change({ bank: TYPED_BANK, name: 'same account' })
    expect(deps.published).toStrictEqual([])
    expect(await show()).toMatchObject({
      bank_since: addMs(deps.now(), -60_000),
      bank_is_change: false,
    })

    expect(await change({ operator: 'budi', bank: OTHER_BANK })).toMatchObject({ status: 200 })

    expect(await show()).toMatchObject({
      bank: OTHER_BANK,
      bank_since: deps.now(),
      bank_is_change: true,
    })
    const expected = `^Request [^ ]* changes the bank details of client ${client.clientId}\\..*…6789" to "BNI …7766", as operator "budi"`
    const message = expect.stringMatching(new RegExp(expected))
    expect(deps.published).toMatchObject([
      { kind: 'client.bank_changed', subject: client.clientId, message },
    ])
    expect(JSON.stringify(deps.published)).not.toContain(OTHER_BANK.bank_account_no)
    expect(JSON.stringify([deps.published, deps.lines])).not.toContain(TYPED_BANK.bank_account_no)

    deps.clock.advance(60)
    await change({ bank: null })
    await change({ bank: TYPED_BANK })

    expect(await show()).toMatchObject({
      bank: TYPED_BANK,
      bank_since: deps.now(),
      bank_is_change: true,
    })
    expect(deps.published).toHaveLength(2)
  })

  it('alerts again if the bank details changed between the alert and the change', async () => {
    const { deps, change } = await aMerchant({})
    await change({ bank: TYPED_BANK })
    const other = { ...OTHER_BANK, bank_name: 'CIMB' }
    const overtaken = beforeCommit(deps, () => change({ bank: other }))

    await change({ bank: OTHER_BANK }, overtaken)

    expect(deps.published.map(({ message }) => /from .* to .*,/.exec(message)?.[0])).toStrictEqual([
      'from "BCA …6789" to "BNI …7766",',
      'from "BCA …6789" to "CIMB …7766",',
      'from "CIMB …7766" to "BNI …7766",',
    ])
  })

  it('alerts of a new return URL, unless it is the old one or none', async () => {
    const { deps, client, change } = await aMerchant({ returnUrl: 'https://old.example/' })
    const returnUrls = ['https://old.example/', 'https://new.example/', null]
    for (const return_url of returnUrls) await change({ operator: 'budi', return_url })

    const message = expect.stringMatching(
      `^Request [^ ]* changes the return URL of client ${client.clientId}\\..*: "https://new.example/", as operator "budi"`,
    )
    expect(deps.published).toMatchObject([{ kind: 'client.access_changed', message }])
  })

  it('replaces nothing when the alert fails, and repeats the alert after a crash', async () => {
    const { deps, change, storedClient, trail } = await aMerchant({})
    await change({ bank: TYPED_BANK })
    const before = await storedClient()

    expect((await change({ bank: OTHER_BANK }, withoutTopic(deps))).status).toBe(500)
    expect([await storedClient(), (await trail()).length]).toStrictEqual([before, 2])

    expect((await change({ bank: OTHER_BANK }, failingOn(deps, 'transact', 'before'))).status).toBe(
      500,
    )
    expect([await storedClient(), deps.published.length]).toStrictEqual([before, 1])
  })
})
