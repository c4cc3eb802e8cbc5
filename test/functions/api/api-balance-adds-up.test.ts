import { expect, it } from 'vitest'
import { ZERO } from '../../../shared/money.ts'
import type { EntryDto } from '../../../shared/settlement/statement/entry-dto-schema.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { issueKey } from '../../support/payment-builders.ts'
import { aSettledClient, BANK } from '../../support/settlement-builders.ts'
import { memoryDeps, requestsAround, withRequests } from '../../support/test-deps.ts'
import { payoutHistory } from './payout-history.ts'

const CSV = { accept: 'text/csv' }

/** A column of numbers of a CSV without line breaks in its cells. */
function columnOf(text: string, name: string) {
  const [header = '', ...rows] = text.trimEnd().split('\n')
  const at = header.split(',').indexOf(name)
  return rows.map((row) => Number(row.split(',')[at]))
}

function total(amounts: readonly number[]) {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}

it('GET /v1/balance/entries and the nets of open payments add up to the four figures of the balance, at every moment (design section 8)', async () => {
  const own = memoryDeps()
  const { deps, caller } = await anApi({ settlementFloorMinor: ZERO, bank: BANK }, own)
  const ask = (name: keyof typeof API, asked = {}) => call(deps, API[name], { caller, ...asked })
  const seen: string[] = []

  for await (const step of payoutHistory(deps, caller)) {
    const rows = (await ask('listBalanceEntries')).body['data'] as readonly EntryDto[]
    const { text } = await ask('listBalanceEntries', { headers: CSV })
    const { body } = await ask('getBalance', { query: { include: 'settlements' } })

    const open = own.stored
      .items()
      .filter((item) => item['open_at'] !== undefined)
      .map((item) => Number(item['net_minor']) - Number(item['taken_back_minor'] ?? 0))
    const { pending_minor: pending, available_minor: available } = body
    const { in_settlement_minor: settling, paid_out_minor: paid } = body
    const balance = total([pending, available, settling, paid].map(Number))
    const nets = rows.map(({ client_net_minor }) => client_net_minor)
    expect([step, total(nets) + total(open)]).toStrictEqual([step, balance])
    expect([step, columnOf(text, 'client_net_minor')]).toStrictEqual([step, nets])
    seen.push(...rows.map(({ type }) => type))
  }

  expect(new Set(seen)).toStrictEqual(new Set(['payment', 'recredit', 'returned', 'refund']))
})

it('GET /v1/settlements/{id}/payments sums to each settlement: failed, re-credited, paid and returned', async () => {
  const { deps, caller } = await anApi({ settlementFloorMinor: ZERO, bank: BANK }, memoryDeps())
  await Array.fromAsync(payoutHistory(deps, caller))
  const settlements = (await call(deps, API.listSettlements, { caller })).body['data'] as readonly {
    readonly id: string
    readonly status: string
    readonly net_minor: number
    readonly gross_minor: number
  }[]

  expect(settlements.map(({ status }) => status)).toStrictEqual([
    'manual_paid',
    'manual_paid',
    'failed',
  ])
  for (const { id, gross_minor, net_minor } of settlements) {
    const rows = (await call(deps, API.listSettlementPayments, { caller, id })).body[
      'data'
    ] as readonly EntryDto[]
    const { text } = await call(deps, API.listSettlementPayments, { caller, id, headers: CSV })

    expect(total(rows.map(({ notional_minor }) => notional_minor))).toBe(gross_minor)
    expect(total(rows.map(({ client_net_minor }) => client_net_minor))).toBe(net_minor)
    expect(total(columnOf(text, 'client_net_minor'))).toBe(net_minor)
  }
})

it('an entry names the last settlement before the index does', async () => {
  const { deps, client, settlement } = await aSettledClient()
  const { header: authorization } = await issueKey(deps, client.clientId)
  const late = requestsAround(deps.requests, async (asked, send) => {
    const answer = await send()
    return 'query' in asked && 'index' in asked.query ? { ...answer, items: [] } : answer
  })
  const lateDeps = withRequests(deps, late)

  const { body } = await call(lateDeps, API.listBalanceEntries, { caller: { authorization } })

  expect(body).toMatchObject({ data: [{ settlement_id: settlement.settlementId }] })
})
