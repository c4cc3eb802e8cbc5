import { describe, expect, it } from 'vitest'
import { raiseFence } from '../../../shared/ledger/fence-store.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aSettledClient } from '../../support/settlement-builders.ts'
import { alter } from '../../support/tampering.ts'

describe('get-statement', () => {
  // As CSV: `api-statement-pages.test.ts`.
  it('shows the lines of a merchant as it reads them, and refuses a wrong cursor', async () => {
    const { deps, client } = await aSettledClient()
    const asked = { client_id: client.clientId, from: '2026-11-20' }

    const { status, body } = await invokeAdmin('get-statement', deps, asked)

    const figures = { from: '2026-11-20', opening_minor: 0, closing_minor: 95_900 }
    expect(status).toBe(200)
    expect(body).toMatchObject({ ...figures, data: [{ type: 'payment', amount_minor: 95_900 }] })
    expect(body).not.toHaveProperty('continuing')
    const wrong = await invokeAdmin('get-statement', deps, { ...asked, cursor: 'x' })
    expect(wrong.body).toHaveProperty('field_errors.cursor')
  })

  it('names the audit when the stored totals differ, and writes nothing', async () => {
    const { deps, client, settlement } = await aSettledClient()
    deps.clock.advance(3 * 86_400)
    await raiseFence(deps, client.clientId, deps.now())
    const key = settlementKey(settlement.settlementId)
    await alter(deps, key, { net_minor: 95_901 })
    deps.changes.length = 0

    const asked = { client_id: client.clientId, from: '2026-11-20' }
    const { status, body } = await invokeAdmin('get-statement', deps, asked)

    expect([status, Object(body).action_hint]).toStrictEqual([
      500,
      `Run audit-ledger --client_id ${client.clientId}, which names the difference.`,
    ])
    expect([deps.changes, deps.published]).toStrictEqual([[], []])
  })
})
