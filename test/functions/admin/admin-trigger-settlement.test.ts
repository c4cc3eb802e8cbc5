import { describe, expect, it } from 'vitest'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import { handler as markFailed } from '../../../functions/admin/mark-settlement-failed.ts'
import { handler as recredit } from '../../../functions/admin/recredit-settlement.ts'
import { handler as trigger } from '../../../functions/admin/trigger-settlement.ts'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import { minor } from '../../../shared/money.ts'
import { addMs, DAY_MS, SECOND_MS } from '../../../shared/time.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  OPERATOR,
  refusedWith,
  shownSettlement,
} from '../../support/operator-actions.ts'
import { anOpenPayment, aSucceededPayment, postAssumed } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, BANK, settlementsOf, withoutFloor } from '../../support/settlement-builders.ts'
import { memoryDeps } from '../../support/test-deps.ts'

async function anEligibleClient(fields: Parameters<typeof withoutFloor>[1] = {}) {
  const deps = memoryDeps()
  const client = await withoutFloor(deps, fields)
  await aSucceededPayment(deps, client)
  aDayLater(deps)
  const input = { operator: OPERATOR, client_id: client.clientId }
  return { deps, client, input, settle: () => invokeAdmin(trigger, deps, input) }
}

describe('trigger-settlement (spec 3.2, rule 4)', () => {
  it('settles by the rules of the sweep, and replies with the settlement', async () => {
    const { deps, client, settle } = await anEligibleClient({
      settlementFloorMinor: minor(95_899),
      bank: BANK,
    })

    const reply = await settle()

    const [settlement] = await settlementsOf(deps, client)
    const settlements = [settlement && shownSettlement(settlement, { triggered_by: 'manual' })]
    expect(reply).toStrictEqual({ status: 200, body: { settlements } })
    // The fence waits one second after the request.
    const times = {
      sweptFrom: client.createdAt,
      sweptUntil: addMs(deps.now(), 1 - SECOND_MS),
      createdAt: deps.now(),
    }
    expect(settlement).toMatchObject(times)
    const after = { status: 'recorded', net_minor: 95_900, client_id: client.clientId }
    const record = { operator: OPERATOR, action: 'trigger-settlement', before: undefined, after }
    expect(await auditRecordsOf(deps, settlement?.settlementId ?? '')).toStrictEqual([record])
    await expectBalanced(deps, client.clientId)
  })

  it('is refused at the floor with the eligible, the open and the required amount, and in a closed stage', async () => {
    const { deps, client, input, settle } = await anEligibleClient({
      settlementFloorMinor: minor(95_900),
    })
    const payment = await anOpenPayment(deps, client, { notionalMinor: 50_000 })

    const message =
      'nothing to settle: 95900 IDR are eligible, the floor is 95900 IDR and must be exceeded'
    const hint = (next: string) => ({
      action_hint:
        '45950 IDR are not eligible yet. A payment is eligible 24 hours after it was paid, if ' +
        `the provider has settled it. ${next} get-books shows the open amounts.`,
    })
    const at = addMs(payment.paidAt ?? deps.now(), DAY_MS)
    const earliest = `The next payment is eligible at ${at} at the earliest: the provider has not settled it.`
    expect(await settle()).toStrictEqual(refusedWith(message, hint(earliest)))
    await postAssumed(deps, payment)
    const soon = `The next payment is eligible at ${at}.`
    expect(await settle()).toStrictEqual(refusedWith(message, hint(soon)))
    const closed = { ...deps, stage: { ...deps.stage, isClosed: true } }
    expect(await invokeAdmin(trigger, closed, input)).toMatchObject({
      body: { message: 'the stage is closed' },
    })
    await expectBalanced(deps, client.clientId)
  })

  it('warns about a settlement withoutBank bank details, and the steps of the warning settle its funds', async () => {
    const { deps, client, input, settle } = await anEligibleClient({ bank: undefined })
    const settlement = async () =>
      ((await settle()).body as { settlements: { id: string; warning: string | null }[] })
        .settlements[0]
    const warnings = () =>
      deps.lines.filter(({ code }) => code === 'settlement.without_bank').length

    const withoutBank = await settlement()
    const listed = await invokeAdmin(listSettlements, deps, { client_id: client.clientId })
    const closingInput = {
      operator: OPERATOR,
      settlement_id: withoutBank?.id,
      notes: 'no bank details',
    }
    const bank = { bank_name: 'BCA', bank_account_no: '0012345678', bank_account_name: 'PT Kopi' }
    await invokeAdmin(updateClient, deps, { ...input, bank })
    const failed = await invokeAdmin(markFailed, deps, closingInput)
    const recredited = await invokeAdmin(recredit, deps, closingInput)
    const secondSettlement = await settlement()

    const steps = /^no bank details: .*update-client.*mark-settlement-failed.*recredit-settlement/
    const warning: unknown = expect.stringMatching(steps)
    expect(withoutBank).toMatchObject({ warning })
    expect(listed).toMatchObject({ body: { data: [{ id: withoutBank?.id, warning }] } })
    const withoutWarning = { status: 200, body: { warning: null } }
    expect([failed, recredited]).toMatchObject([withoutWarning, withoutWarning])
    expect(secondSettlement).toMatchObject({ bank_account_no: '0012345678', net_minor: 95_900 })
    // The first bank details of a credited client need a confirmation for three days.
    expect(secondSettlement?.warning).toMatch(/^bank details were entered on /)
    expect(warnings()).toBe(1)
  })
})
