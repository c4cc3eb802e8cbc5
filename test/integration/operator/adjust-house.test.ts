/**
 * Goal: an invoice, a charge or a gift of the house is booked once, with equal sides. Method: real
 * stores; the action alone, repeated, raced and refused; the audit of the gateway finds nothing
 * afterwards.
 */
import { describe, expect, it } from 'vitest'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import {
  closeHouseDays,
  newHouseEntry,
  putHouseEntry,
} from '../../../shared/journal/house-store.ts'
import { houseAdjustmentKey } from '../../../shared/table/keys.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { invokeAdmin, invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { alter, erase } from '../../support/tampering.ts'
import { beforeCommit, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { approve, approvedFor } from './approved-for.ts'

describe('adjust-house (design sections 7 and 12)', () => {
  const INVOICE = { bank_minor: -4_500, transit_minor: 4_000, cost_minor: -500, reference: 'INV-1' }

  function act(deps: TestDeps, fields: object = {}) {
    return invokeAdmin('adjust-house', deps, { operator: OPERATOR, ...INVOICE, ...fields })
  }

  it('books an invoice once, on whatever day it is repeated', async () => {
    const deps = memoryDeps()

    const first = await act(deps)

    expect(first).toMatchObject({
      status: 200,
      body: { type: 'adjustment', ...INVOICE, other_minor: 0, notes: null },
    })
    deps.clock.pass(2 * DAY_MS)
    expect(await act(deps)).toStrictEqual(first)
    expect(await act(deps, { cost_minor: -400, other_minor: -100 })).toMatchObject({ status: 409 })
    await expectHouseBalanced(deps)
  })

  it.for([
    [{ cost_minor: -400 }, 'the sides are not equal'],
    [{ bank_minor: 0, transit_minor: 0, cost_minor: 0 }, 'all amounts are 0'],
  ] as const)('refuses %o', async ([fields, message]) => {
    const body = { message: expect.stringContaining(message) }

    expect(await act(memoryDeps(), fields)).toMatchObject({ status: 422, body })
  })

  it('needs no approval unless the bank pays; 0 is absent; a race over midnight books once', async () => {
    const deps = memoryDeps()
    const paid = { bank_minor: -9, cost_minor: -9, other_minor: 0, reference: 'C' }
    await approve(deps, { action: 'adjust-house', payload: paid })
    const book = (own: TestDeps, legs: object = { bank_minor: 9, cost_minor: 9, reference: 'I' }) =>
      invokeWhole('adjust-house', own, { operator: OPERATOR, ...legs })
    const raced = beforeCommit(deps, () => {
      deps.clock.pass(DAY_MS)
      return book(deps)
    })

    for (const call of [() => book(deps, paid), () => book(raced)])
      expect(await call()).toMatchObject({ status: 200 })
    await expectHouseBalanced(deps)
  })

  it('is booked on the next open day, and once by two operators', async () => {
    const deps = memoryDeps()
    const approved = await approvedFor(deps, 'adjust-house', INVOICE)
    const frozen = beforeCommit(deps, async () => {
      deps.clock.pass(1.5 * DAY_MS)
      await closeHouseDays(deps)
    })
    const raced = beforeCommit(deps, () => approved(frozen))

    expect(await approved(raced)).toMatchObject({ status: 200, body: { posted_at: deps.now() } })
    await expectHouseBalanced(deps)
  })

  it('is found by the audit when a row of it is changed or has no record, or has two entries', async () => {
    const deps = memoryDeps()
    await act(deps)
    const key = houseAdjustmentKey('INV-1')
    await erase(deps, key)
    deps.clock.pass(DAY_MS)
    await act(deps)
    const at = deps.now()
    const unrecorded = { type: 'adjustment', transactionId: 'Y', rowAt: at, postedAt: at } as const
    await deps.table.transact(putHouseEntry(newHouseEntry(unrecorded)))
    await alter(deps, key, { bank_minor: -1 })
    await alter(deps, key, { ...houseAdjustmentKey('X'), reference: 'X' })

    const { differences } = await auditWholeGateway(deps)

    expect(differences).toMatchObject([
      { what: 'house_adjustment.bank_minor', id: 'INV-1' },
      { what: 'house_adjustment', id: 'X', found: 'not recorded' },
      { what: 'house_adjustment', id: 'Y', found: 'not recorded' },
      { what: 'house_entry.row_at', id: 'INV-1' },
    ])
  })
})
