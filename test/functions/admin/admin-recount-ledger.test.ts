import { describe, expect, it } from 'vitest'
import { handler as auditLedger } from '../../../functions/admin/audit-ledger.ts'
import { handler as recountLedger } from '../../../functions/admin/recount-ledger.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { auditRecordsOf, invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'

/** A merchant whose window has a figure that no settlement explains. */
const tornClient = async () => {
  const deps = memoryDeps()
  const { clientId } = await aStoredClient(deps)
  await deps.table.write(update(windowKey(clientId), { add: { paidOutMinor: 1 } }))
  const difference = { what: 'window.paid_out_minor', id: clientId, expected: 0, found: 1 }
  const recount = (fields: object = {}) =>
    invokeAdmin(recountLedger, deps, { operator: 'ayu', client_id: clientId, expected: [difference], ...fields })
  return { deps, clientId, difference, recount }
}

describe('recount-ledger', () => {
  it('answers what it wrote, and leaves one audit record', async () => {
    const { deps, clientId, difference, recount } = await tornClient()

    const reply = await recount()

    expect(reply).toMatchObject({ status: 200, body: { written: [difference], left: [] } })
    expect((await auditRecordsOf(deps, clientId)).slice(1)).toMatchObject([
      { action: 'recount-ledger', operator: 'ayu', after: { repaired: [difference] } },
    ])
    const audit = await invokeAdmin(auditLedger, deps, { client_id: clientId })
    expect(audit).toMatchObject({ body: { balanced: true } })
  })

  it.each([
    ['no difference is named', { expected: [] }, 422],
    ['a difference has another field', { expected: [{ what: 'a', id: 'b', expected: 0, found: 1, part: 'c' }] }, 422],
    ['the audit does not find the difference', { expected: [{ what: 'a', id: 'b', expected: 0, found: 1 }] }, 422],
    ['no operator asks', { operator: undefined }, 422],
    ['the client is unknown', { client_id: crypto.randomUUID() }, 404],
  ])('writes nothing when %s', async (_, fields, status) => {
    const { deps, recount } = await tornClient()
    deps.changes.length = 0

    expect(await recount(fields)).toMatchObject({ status })

    expect(deps.changes).toStrictEqual([])
  })
})
