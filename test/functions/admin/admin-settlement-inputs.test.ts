import { describe, expect, it } from 'vitest'
import { handler as getStatement } from '../../../functions/admin/get-settlement-statement.ts'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import { handler as markFailed } from '../../../functions/admin/mark-settlement-failed.ts'
import { handler as markPaid } from '../../../functions/admin/mark-settlement-paid.ts'
import { handler as recredit } from '../../../functions/admin/recredit-settlement.ts'
import { handler as trigger } from '../../../functions/admin/trigger-settlement.ts'
import type { AdminHandler } from '../../../shared/runtime/admin-handler.ts'
import { invokeAdmin, notFoundReply, OPERATOR } from '../../support/operator-actions.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('input of the settlement actions', () => {
  const CHANGES: Readonly<Record<string, AdminHandler>> = { trigger, markPaid, markFailed, recredit }
  const OF_A_SETTLEMENT: Readonly<Record<string, AdminHandler>> = { markPaid, markFailed, recredit, getStatement }
  const idOf = (name: string, id: string) => (name === 'trigger' ? { client_id: id } : { settlement_id: id })
  const payload = (name: string, id: string) => ({
    ...idOf(name, id),
    ...(name in CHANGES && { operator: OPERATOR }),
    ...(/markFailed|recredit/.test(name) && { notes: 'x' }),
  })

  it.each(Object.keys(CHANGES))('of %s must say who asks', async (name) => {
    for (const operator of [undefined, '', '  ', 7, 'x'.repeat(101)]) {
      const input = { ...payload(name, crypto.randomUUID()), operator }

      expect(await invokeAdmin(CHANGES[name] as AdminHandler, testDeps(), input)).toMatchObject({
        status: 422,
        body: { field_errors: { operator: [expect.any(String)] }, action_hint: expect.any(String) },
      })
    }
  })

  it.each(['markFailed', 'recredit'])('of %s must give a cause', async (name) => {
    for (const notes of [undefined, '', '  ', 'x'.repeat(1_001)]) {
      const input = { ...payload(name, crypto.randomUUID()), notes }

      expect(await invokeAdmin(CHANGES[name] as AdminHandler, testDeps(), input)).toMatchObject({
        status: 422,
        body: { field_errors: { notes: [expect.any(String)] } },
      })
    }
  })

  it.each(Object.entries({ ...CHANGES, ...OF_A_SETTLEMENT, listSettlements }))(
    'of %s takes no unknown field',
    async (name, handler) => {
      const input = { ...(name === 'listSettlements' ? {} : payload(name, crypto.randomUUID())), force: true }

      expect(await invokeAdmin(handler, testDeps(), input)).toMatchObject({
        status: 422,
        body: { field_errors: { force: ['unknown field'] } },
      })
    },
  )

  it.each(Object.entries(OF_A_SETTLEMENT))(
    'of %s names a settlement that exists, or gets 404',
    async (name, handler) => {
      for (const id of [crypto.randomUUID(), 'x', '']) {
        expect(await invokeAdmin(handler, testDeps(), payload(name, id))).toStrictEqual(notFoundReply('settlement'))
      }
    },
  )

  it.each([
    ['trigger-settlement', trigger, { operator: OPERATOR }],
    ['list-settlements', listSettlements, {}],
  ] as const)('of %s names a client that exists, or gets 404', async (_, handler, rest) => {
    for (const id of [crypto.randomUUID(), 'x', '']) {
      expect(await invokeAdmin(handler, testDeps(), { client_id: id, ...rest })).toStrictEqual(notFoundReply('client'))
    }
  })
})
