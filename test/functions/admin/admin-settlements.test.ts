import { describe, expect, it } from 'vitest'
import { handler as getStatement } from '../../../functions/admin/get-settlement-statement.ts'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import { handler as markFailed } from '../../../functions/admin/mark-settlement-failed.ts'
import { handler as markPaid } from '../../../functions/admin/mark-settlement-paid.ts'
import { handler as recredit } from '../../../functions/admin/recredit-settlement.ts'
import { handler as trigger } from '../../../functions/admin/trigger-settlement.ts'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import { minor } from '../../../shared/money.ts'
import { type Settlement } from '../../../shared/settlement/settlement.ts'
import { toSettlementDto } from '../../../shared/settlement/settlement-dto.ts'
import { addMs, DAY_MS, SECOND_MS } from '../../../shared/time.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR, refusedWith, shownSettlement } from '../../support/operator-actions.ts'
import { anOpenPayment, aSucceededPayment } from '../../support/paid-builders.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, aSettledClient, auditedNow, BANK, withFloor } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

/** What is to be paid out is listed over all clients. */
const { requests } = memoryDeps()

/** A merchant with one payment that a settlement would take, and an operator who asks for one. */
const anEligible = async (fields: Parameters<typeof withFloor>[2] = {}) => {
  const deps = testDeps({ requests })
  const client = await withFloor(deps, 0, fields)
  await aSucceededPayment(deps, client)
  aDayLater(deps)
  const input = { operator: OPERATOR, client_id: client.clientId }
  return { deps, client, input, settle: () => invokeAdmin(trigger, deps, input) }
}

describe('trigger-settlement (spec 3.2, rule 4)', () => {
  it('settles at once under the rules of the sweep and answers what it recorded', async () => {
    const { deps, client, settle } = await anEligible({ settlementFloorMinor: minor(95_899), bank: BANK })

    const reply = await settle()

    const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
    const settlement = {
      clientId: client.clientId,
      sweptFrom: client.createdAt,
      // Asked for a second before: the fence waits that long.
      sweptUntil: addMs(deps.now(), 1 - SECOND_MS),
      createdAt: deps.now(),
    } as Settlement
    expect(reply).toStrictEqual({
      status: 200,
      body: { settlements: [shownSettlement(settlement, { id, triggered_by: 'manual' })] },
    })
    const { settlements } = reply.body as { readonly settlements: readonly { readonly id: string }[] }
    expect(await auditRecordsOf(deps, settlements[0]?.id ?? '')).toStrictEqual([
      {
        operator: OPERATOR,
        action: 'trigger-settlement',
        before: undefined,
        after: { status: 'recorded', net_minor: 95_900, client_id: client.clientId },
      },
    ])
    await expectBalanced(deps, client.clientId)
  })

  it('is refused at the floor, saying what is eligible, what is open and what the floor is', async () => {
    const deps = testDeps({ requests })
    const client = await aStoredClient(deps, { settlementFloorMinor: minor(95_900) })
    await aSucceededPayment(deps, client)
    await anOpenPayment(deps, client, { notionalMinor: 50_000 })
    aDayLater(deps)

    const reply = await invokeAdmin(trigger, deps, { operator: OPERATOR, client_id: client.clientId })

    expect(reply).toStrictEqual(
      refusedWith('nothing to settle: 95900 IDR are eligible, the floor is 95900 IDR and must be exceeded', {
        action_hint:
          '45950 IDR are not eligible yet: a payment is, 24 hours after it was paid and once the provider has settled it. get-books shows what is open.',
      }),
    )
    await expectBalanced(deps, client.clientId)
  })

  it('warns of a settlement recorded without bank details, until it has them', async () => {
    const { deps, client, input, settle } = await anEligible({ bank: undefined })
    const settlement = async () =>
      ((await settle()).body as { settlements: { id: string; warning: string | null }[] }).settlements[0]
    const warnings = () => deps.lines.filter(({ code }) => code === 'settlement.without_bank').length

    const without = await settlement()
    const listed = await invokeAdmin(listSettlements, deps, { client_id: client.clientId })
    const closing = { operator: OPERATOR, settlement_id: without?.id, notes: 'no bank details' }
    // The very steps that the warning names.
    await invokeAdmin(updateClient, deps, {
      ...input,
      bank: { bank_name: 'BCA', bank_account_no: '0012', bank_account_name: 'PT Kopi' },
    })
    const failed = await invokeAdmin(markFailed, deps, closing)
    const recredited = await invokeAdmin(recredit, deps, closing)
    const again = await settlement()

    const warning = expect.stringMatching(
      /^no bank details: .*update-client.*mark-settlement-failed.*recredit-settlement/,
    )
    expect(without).toMatchObject({ warning })
    expect(listed).toMatchObject({ body: { data: [{ id: without?.id, warning }] } })
    expect([failed, recredited]).toMatchObject([
      { status: 200, body: { warning: null } },
      { status: 200, body: { warning: null } },
    ])
    expect(again).toMatchObject({ bank_account_no: '0012', net_minor: 95_900 })
    // First details of a client that was credited before are young for three days.
    expect(again?.warning).toMatch(/^bank details were entered on /)
    expect(warnings()).toBe(1)
  })
})

describe('list-settlements', () => {
  it('shows what is to be paid out over all clients, newest first, and nothing once it is closed', async () => {
    const deps = testDeps({ requests })
    deps.clock.set(addMs(deps.now(), 365 * DAY_MS))
    const first = await aSettledClient(deps)
    deps.clock.advance(60)
    const second = await aSettledClient(deps)
    deps.clock.advance(60)
    const third = await aSettledClient(deps)
    const recorded = async () => (await invokeAdmin(listSettlements, deps, { status: 'recorded', per_page: 3 })).body

    expect(await recorded()).toStrictEqual({
      data: [third, second, first].map(({ settlement }) => shownSettlement(settlement)),
      pagination: { page: 1, per_page: 3 },
    })
    const close = { operator: OPERATOR, notes: 'done' }
    await auditedNow(deps, third.settlement)
    await invokeAdmin(markPaid, deps, {
      ...close,
      settlement_id: third.settlement.settlementId,
      bank_reference: 'BCA 17',
    })
    await invokeAdmin(markFailed, deps, { ...close, settlement_id: first.settlement.settlementId })

    const { data } = (await recorded()) as { readonly data: readonly { readonly id: string }[] }
    expect(data.map(({ id }) => id)).toContain(second.settlement.settlementId)
    expect(data.map(({ id }) => id)).not.toContain(third.settlement.settlementId)
    expect(data.map(({ id }) => id)).not.toContain(first.settlement.settlementId)
  })

  it.each([{}, { format: 'csv' }, { status: 'swept' }, { from: '2026-02-30' }])(
    'refuses to guess what %o asks for',
    async (payload) => {
      expect(await invokeAdmin(listSettlements, testDeps({ requests }), payload)).toMatchObject({
        status: 422,
        body: { code: 'validation', field_errors: expect.any(Object), action_hint: expect.any(String) },
      })
    },
  )
})

it('get-settlement-statement answers JSON by default and CSV when asked', async () => {
  const deps = testDeps({ requests })
  const { settlement } = await aSettledClient(deps)
  const settlement_id = settlement.settlementId
  // As its merchant sees it, and no more.
  const shown = toSettlementDto(settlement)

  const json = await invokeAdmin(getStatement, deps, { settlement_id })
  const csv = await invokeAdmin(getStatement, deps, { settlement_id, format: 'csv' })

  expect([Object(json.body).settlement, Object(csv.body).settlement]).toStrictEqual([shown, shown])
  expect(json).toMatchObject({ status: 200, body: { entries: [{ client_net_minor: 95_900 }], cursor: null } })
  expect(csv).toMatchObject({
    status: 200,
    body: { csv: expect.stringMatching(/^id,type,.*\n"[0-9a-f-]{36}","payment",.*,95900,"txn_[^"]+","[^"]+"\n$/) },
  })
})
