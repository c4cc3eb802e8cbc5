import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import type { Client } from '../../../shared/client/client.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { adjustLedger } from '../../../shared/posting/adjust-ledger.ts'
import { settleClient } from '../../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { closeStep } from '../../../shared/settlement/settlement-store.ts'
import { clientKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { changeClientVerdict, readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { auditedNow } from '../../support/settlement-builders.ts'

const HEAD = 'settlement_id,amount,bank_name,bank_account_no,bank_account_name,client_id\n'

const bankOf = (deps: MemoryDeps, fields: Partial<NonNullable<Client['bank']>> = {}) => ({
  bankName: 'BCA',
  bankAccountNo: '0012345678',
  bankAccountName: 'PT Warung Kopi Satu',
  since: addMs(deps.now(), -30 * DAY_MS),
  ...fields,
})

type Kind = 'recovered' | 'written_off'

const adjust = (deps: MemoryDeps, clientId: ClientId, amount: number, reference: string, kind: Kind = 'recovered') => {
  const input = { kind, reference, providerTransactionId: undefined, notes: undefined, operator: OPERATOR } as const
  return adjustLedger(deps, { ...input, clientId, amountMinor: minor(amount) })
}

/** A settlement that waits for its payout, a minute before its audit. */
const aYoung = async (deps: MemoryDeps, bank: Client['bank'], amount = 95_900, kind?: Kind): Promise<Settlement> => {
  deps.clock.advance(1)
  const { clientId } = await aStoredClient(deps, { settlementFloorMinor: minor(0), bank })
  deps.clock.advance(1)
  await adjust(deps, clientId, amount, 'R-1', kind)
  const { settlement } = await settleClient(deps, clientId, { by: 'auto' })
  if (settlement === undefined) throw new Error('nothing was settled')
  return settlement
}

/** The same, audited. */
const aRecorded = async (...input: Parameters<typeof aYoung>): Promise<Settlement> => {
  const settlement = await aYoung(...input)
  await auditedNow(input[0], settlement)
  return settlement
}

const asked = (deps: MemoryDeps, input: Readonly<Record<string, unknown>> = {}) =>
  invokeAdmin(listSettlements, deps, { status: 'recorded', format: 'csv', ...input })

describe('list-settlements --status recorded --format csv', () => {
  it('is the bank’s file: a line of each recorded settlement, oldest first', async () => {
    const deps = memoryDeps()
    const first = await aRecorded(deps, bankOf(deps))
    const second = await aRecorded(deps, bankOf(deps, { bankName: 'MANDIRI' }), 12_345)

    const reply = await asked(deps)

    expect(reply).toStrictEqual({
      status: 200,
      body: {
        csv:
          `${HEAD}"${first.settlementId}",95900,"BCA","0012345678","PT Warung Kopi Satu","${first.clientId}"\n` +
          `"${second.settlementId}",12345,"MANDIRI","0012345678","PT Warung Kopi Satu","${second.clientId}"\n`,
        left_out: [],
      },
    })
  })

  it('runs nothing in a spreadsheet, and breaks no line', async () => {
    const deps = memoryDeps()
    await aRecorded(deps, bankOf(deps, { bankAccountName: '=1+1', bankName: 'BCA, "Pusat"', bankAccountNo: '-123' }))

    const { csv } = v.parse(v.object({ csv: v.string() }), (await asked(deps)).body)

    expect(csv).toContain(`,95900,"BCA, ""Pusat""","'-123","'=1+1",`)
  })

  it.each<[string, string, (deps: MemoryDeps) => Promise<Settlement>]>([
    ['has no bank details', 'no bank details', (deps) => aRecorded(deps, undefined)],
    [
      'has new bank details',
      'mark-settlement-paid needs confirm {"new_bank":true}',
      (deps) => aRecorded(deps, bankOf(deps, { since: deps.now(), isChange: true })),
    ],
    [
      'is not proven',
      'mark-settlement-paid needs confirm {"unproven":95900}',
      (deps) => aRecorded(deps, bankOf(deps), 95_900, 'written_off'),
    ],
    [
      'is of a client that owes',
      'mark-settlement-paid needs confirm {"owed":1000}',
      async (deps) => {
        const settlement = await aRecorded(deps, bankOf(deps))
        await adjust(deps, settlement.clientId, -1_000, 'R-2')
        return settlement
      },
    ],
    [
      'is on hold',
      'payouts of this client are on hold: police report',
      async (deps) => {
        const settlement = await aRecorded(deps, bankOf(deps))
        await deps.table.write(update(clientKey(settlement.clientId), { set: { payoutHold: 'police report' } }, exists))
        return settlement
      },
    ],
    ['is not audited', 'not audited yet', (deps) => aYoung(deps, bankOf(deps))],
    [
      'is of a client with a difference',
      'the books of this client do not balance: audit-ledger lists why',
      async (deps) => {
        const settlement = await aRecorded(deps, bankOf(deps))
        const before = await readClientVerdict(deps, settlement.clientId)
        const standing = [{ what: 'window', id: 'window', expected: 1, found: 2, part: 'kept' }]
        await deps.table.write(changeClientVerdict(settlement.clientId, before, { ...before, standing }))
        return settlement
      },
    ],
  ])('leaves out a settlement that %s, and says why', async (_, reason, made) => {
    const deps = memoryDeps()
    const { settlementId } = await made(deps)

    const reply = await asked(deps)

    expect(reply).toStrictEqual({
      status: 200,
      body: { csv: HEAD, left_out: [{ settlement_id: settlementId, reason }] },
    })
  })

  it('has no line of a settlement that is paid or has failed', async () => {
    const deps = memoryDeps()
    const settlement = await aRecorded(deps, bankOf(deps))
    await deps.table.write(closeStep({ ...settlement, status: 'failed' }))

    expect((await asked(deps)).body).toStrictEqual({ csv: HEAD, left_out: [] })
  })

  it('goes on at a cursor where one answer cannot hold all', async () => {
    const deps = memoryDeps()
    const settlements = []
    for (let one = 0; one < 3; one++) settlements.push(await aRecorded(deps, bankOf(deps)))
    const { settlementId: id, createdAt } = settlements[0] ?? { settlementId: '', createdAt: '' }
    const cursor = Buffer.from(JSON.stringify({ id, due_at: createdAt })).toString('base64url')

    const { csv } = v.parse(v.object({ csv: v.string() }), (await asked(deps, { cursor })).body)

    expect(csv.split('\n').map((line) => line.slice(1, 37))).toStrictEqual([
      ...settlements.slice(1).map(({ settlementId }) => settlementId),
      '',
    ])
    expect(await asked(deps, { cursor: 'e30' })).toMatchObject({ status: 422 })
  })

  it('logs no bank details', async () => {
    const deps = memoryDeps()
    await aRecorded(deps, bankOf(deps))

    await asked(deps)

    expect(JSON.stringify(deps.lines)).not.toMatch(/0012345678|Warung Kopi Satu/)
  })
})
