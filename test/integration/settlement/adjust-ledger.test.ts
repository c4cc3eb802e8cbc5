import { describe, expect, it } from 'vitest'
import { houseTotals } from '../../../shared/journal/house-store.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { settleClient } from '../../../shared/settlement/settle-client.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { auditRecordsOf, OPERATOR } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'

import { anUnclaimedRow, aWorld, correction, entriesOf, pendingOf } from './adjusted-client.ts'

describe('adjust-ledger (design section 10)', () => {
  it('books what a merchant paid back by bank, beside its audit record', async () => {
    const { deps, clientId, adjusted } = await aWorld()

    const reply = await adjusted({ notes: 'transfer of 21 November' })

    const [entry] = await entriesOf(deps, clientId)
    const shown = {
      client_id: clientId,
      type: 'recovered',
      reference: 'BANK-1',
      posted_at: deps.now(),
      client_net_minor: 25_000,
      provider_minor: 0,
      bank_minor: 25_000,
      house_minor: 0,
      provider_transaction_id: null,
      notes: 'transfer of 21 November',
    }
    expect(reply).toStrictEqual({ status: 200, body: { id: entry?.entryId, ...shown } })
    expect(entry).toMatchObject({ grossMinor: 25_000, netMinor: 25_000, bankMinor: 25_000, eligibleAt: deps.now() })
    expect(await pendingOf(deps, clientId)).toBe(25_000)
    expect((await auditRecordsOf(deps, clientId)).at(-1)).toStrictEqual({
      operator: OPERATOR,
      action: 'adjust-ledger',
      before: undefined,
      after: {
        kind: 'recovered',
        amount_minor: 25_000,
        reference: 'BANK-1',
        provider_transaction_id: null,
        entry_id: entry?.entryId,
        notes: 'transfer of 21 November',
      },
    })
  })

  it('gives up a debt at the cost of the house, and counts what was given up', async () => {
    const { deps, clientId, adjusted } = await aWorld()

    const { body } = await adjusted({ kind: 'written_off' })

    expect(body).toMatchObject({ type: 'written_off', client_net_minor: 25_000, bank_minor: 0, house_minor: -25_000 })
    expect((await readWindow(deps, clientId)).writtenOffMinor).toBe(25_000)
  })

  it('takes back at most what was given up', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    await adjusted({ kind: 'written_off' })

    const beyond = await adjusted({ kind: 'written_off', reference: 'W-2', amount_minor: -25_001 })
    const whole = await adjusted({ kind: 'written_off', reference: 'W-3', amount_minor: -25_000 })

    expect(beyond).toMatchObject({
      status: 422,
      body: { message: 'amount_minor: only 25000 IDR of this client are written off' },
    })
    expect(whole.status).toBe(200)
    expect(await pendingOf(deps, clientId)).toBe(0)
  })

  it.each(['unmatched', 'withdrawal'] as const)(
    'takes the provider leg of a row that is %s over into the correction, and out of the house',
    async (type) => {
      const { deps, clientId, adjusted } = await aWorld()
      await anUnclaimedRow(deps, { rowAt: addMs(deps.now(), -398 * DAY_MS), type })

      const { body } = await adjusted(correction)

      expect(body).toMatchObject({ client_net_minor: -25_000, provider_minor: -30_000, house_minor: -5_000 })
      const [day] = deps.now().split('T', 1)
      const totals = await houseTotals(deps, { fromDay: day ?? '', untilDay: day ?? '' })
      expect(totals.reduce((sum, { providerMinor }) => sum + providerMinor, 0)).toBe(0)
      expect(totals.find((total) => total.type === 'correction')).toMatchObject({
        providerMinor: 30_000,
        houseMinor: 30_000,
      })
      expect(await pendingOf(deps, clientId)).toBe(-25_000)
    },
  )

  it('is a line of the next settlement', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    await adjusted()
    await adjusted({ ...correction, provider_transaction_id: undefined, amount_minor: -5_000, reference: 'C-1' })

    const { settlement } = await settleClient(deps, clientId, { by: 'auto' })

    expect(settlement).toMatchObject({ netMinor: 20_000, entryCount: 2, paymentCount: 0, unprovenMinor: -5_000 })
  })

  it('answers the stored entry when the same reference comes again, and writes nothing', async () => {
    const { deps, adjusted } = await aWorld()
    await anUnclaimedRow(deps, { rowAt: deps.now() })
    const first = await adjusted(correction)
    deps.changes.length = 0
    deps.clock.advance(3_600)

    const again = await adjusted({ ...correction, notes: 'asked twice' })

    expect(again).toStrictEqual(first)
    expect(deps.changes).toStrictEqual([])
  })

  it.each([{ amount_minor: 25_001 }, { kind: 'written_off' }, { kind: 'correction' }] as const)(
    'refuses the same reference with other figures: %o',
    async (other) => {
      const { deps, clientId, adjusted } = await aWorld()
      await adjusted()

      const reply = await adjusted(other)

      expect(reply).toMatchObject({ status: 409, body: { code: 'conflict' } })
      expect(await entriesOf(deps, clientId)).toHaveLength(1)
    },
  )

  it('keeps references of two merchants apart', async () => {
    const { deps, adjusted } = await aWorld()
    const other = await aStoredClient(deps)
    await adjusted()

    const reply = await adjusted({ client_id: other.clientId, amount_minor: 1 })

    expect(reply.status).toBe(200)
  })

  it.each([
    [{ amount_minor: 0 }, 'amount_minor must not be 0'],
    [{ amount_minor: 1.5 }, 'amount_minor: not valid'],
    [{ amount_minor: -1_000_000_000_001 }, 'amount_minor: at most 1000000000000 either way'],
    [{ provider_transaction_id: 'txn-1' }, 'provider_transaction_id: only with kind correction'],
    [{ reference: 'two words' }, 'reference: must be 1 to 100 printable ASCII characters without spaces'],
  ])('refuses %o', async (fields, message) => {
    const { deps, clientId, adjusted } = await aWorld()

    const reply = await adjusted(fields)

    expect(reply).toMatchObject({ status: 422, body: { message } })
    expect(await entriesOf(deps, clientId)).toStrictEqual([])
  })

  it('answers 404 for a merchant and for a row that are not there', async () => {
    const { deps, adjusted } = await aWorld()
    await anUnclaimedRow(deps, { rowAt: addMs(deps.now(), -500 * DAY_MS) })

    expect(await adjusted({ client_id: crypto.randomUUID() })).toMatchObject({ status: 404 })
    expect(await adjusted(correction)).toMatchObject({
      status: 404,
      body: { message: 'provider transaction not found' },
    })
  })
})
