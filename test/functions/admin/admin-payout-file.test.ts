import { describe, expect, test } from 'vitest'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { requireClient } from '../../../shared/client/client-store.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { approve } from '../../../shared/operator/approve.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { batchKey, clientKey } from '../../../shared/table/keys.ts'
import { recordDifferences } from '../../../shared/verdict/verdict-store.ts'
import {
  askForFile,
  aWaitingSettlement,
  cancelFile,
  expectFile,
  fileOf,
} from '../../support/batch-builders.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { auditRecordsOf } from '../../support/operator-actions.ts'
import { expectBalanced, expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { BANK, fail, withoutFloor } from '../../support/settlement-builders.ts'
import { changeRow } from '../../support/tampering.ts'
import {
  beforeCommit,
  interceptTable,
  type MemoryDeps,
  memoryDeps,
  type TableCall,
} from '../../support/test-deps.ts'
import { APPROVER } from '../../support/with-approval.ts'

const OWN =
  'batch,line,settlement_id,client_id,amount,bank_code,bank_number,bank_account_no,' +
  'bank_account_name,description,status,bank_reference,value_date,reason'
const OF_PROVIDER =
  'Reference ID,Amount,Channel Code,Bank Account Name,Bank Account Number,Description,' +
  'Email,Email CC,Email BCC'

const CHANGED_BANK = { ...BANK, isChange: true }

const it = test.extend('deps', () => memoryDeps())

describe('payout-file (design section 15)', () => {
  it('puts each waiting settlement into one file, with text for all that is no sum', async ({
    deps,
  }) => {
    const first = await aWaitingSettlement(deps)
    const second = await aWaitingSettlement(deps, {
      amount: 12_345,
      bank: { ...BANK, bankName: 'CIMB' },
    })

    const { batch, rows } = await fileOf(deps)

    expect(batch).toMatchObject({ number: 1, state: 'ready', count: 2 })
    const { settlementId, clientId } = first
    const account = 'BCA|014|0012345678|PT Warung Kopi Satu'
    expect(rows[0]?.join('|')).toBe(
      `1|1|${settlementId}|${clientId}|95900|${account}|${settlementId}||||`,
    )
    expect(rows[1]?.slice(2, 7)).toStrictEqual([
      second.settlementId,
      second.clientId,
      '12345',
      'CIMB',
      '022',
    ])
    expect(JSON.stringify(deps.lines)).not.toMatch(/0012345678|Warung Kopi Satu/)
    await expectHouseBalanced(deps)
    await expectBalanced(deps, { clientId })
  })

  it('gives the same lines and the same digest again, in every format', async ({ deps }) => {
    const { settlementId } = await aWaitingSettlement(deps)
    const made = await askForFile(deps)
    await aWaitingSettlement(deps)

    const again = await askForFile(deps, { batch: 1 })
    expect([again.status, again.body]).toStrictEqual([made.status, made.body])
    expect(made.body).toMatchObject({ batch: { digest: expect.any(String) } })
    expect((await askForFile(deps, { batch: 1, format: 'csv' })).body).toMatchObject({
      file: {
        name: 'payout-0001.csv',
        text: expect.stringMatching(`^${OWN}\n"1","1","${settlementId}"`),
      },
    })
    const line = [settlementId, 95_900, 'ID_BCA', BANK.bankAccountName, '0012345678', settlementId]
    expect((await askForFile(deps, { batch: 1, format: 'provider' })).body).toMatchObject({
      file: {
        name: 'payout-0001-provider.xlsx',
        rows: [OF_PROVIDER.split(','), [...line, '', '', '']],
      },
    })
  })

  it('leaves out what is in a live batch, and numbers batches without a gap', async ({ deps }) => {
    const first = await aWaitingSettlement(deps)
    await fileOf(deps)

    await expectFile(deps, {
      batch: null,
      leftOut: [{ settlement_id: first.settlementId, reason: expect.stringContaining('batch 1') }],
    })
    const second = await aWaitingSettlement(deps)
    await expectFile(deps, { batch: { number: 2 }, ids: [second.settlementId] })
  })

  it.each<[string, Parameters<typeof aWaitingSettlement>[1], Change?]>([
    ['the settlement has no bank details', { bank: undefined }],
    [
      'mark-settlement-paid needs an approval of exactly these figures: there is none ' +
        '{"new_bank":"BCA 0012345678"}',
      { bank: CHANGED_BANK },
    ],
    [
      'payouts of this client are on hold: police report',
      {},
      changed({ payoutHold: 'police report' }),
    ],
    ['the client is disabled', {}, changed({ enabled: false })],
    ['no bank of the list has the name BANK X', { bank: { ...BANK, bankName: 'BANK X' } }],
    ['the books of this client do not balance (differences: 1)', {}, recordDifference],
  ])('leaves a settlement out, with reason and command: %s', async (reason, fields, change) => {
    const deps = memoryDeps()
    const { settlementId, clientId } = await aWaitingSettlement(deps, fields)
    await change?.(deps, clientId)

    const command = reason.includes('BANK X') ? null : expect.stringMatching(/[a-z]-[a-z]/)
    expect((await askForFile(deps)).body).toMatchObject({
      batch: null,
      file: null,
      left_out: [
        { settlement_id: settlementId, client_id: clientId, amount_minor: 95_900, reason, command },
      ],
    })
    expect(await auditRecordsOf(deps, settlementId)).toStrictEqual([])
  })

  it.each([
    ['its figures grew meanwhile', 1],
    ['they grew after the process had died with an open batch', 3],
  ])('uses the approval of a payout up, and tells when %s', async (_, write) => {
    const deps = memoryDeps()
    const { settlementId, clientId } = await aWaitingSettlement(deps, { bank: CHANGED_BANK })
    const payload = { settlement_id: settlementId, new_bank: 'BCA 0012345678' }
    await approve(deps, { action: 'mark-settlement-paid', payload, operator: APPROVER })
    let writes = 0
    const grown = interceptTable(deps, {
      before: async ({ name }) => {
        if (name !== 'transact' || ++writes !== write) return
        await adjustBalance(deps, { clientId }, 'correction', -100_000)
        if (write === 3) throw new Error('killed')
      },
    })
    if (write === 3) expect((await askForFile(grown)).status).toBe(500)

    expect(await fileOf(grown)).toMatchObject({ batch: { number: 1 }, ids: [settlementId] })

    expect(await auditRecordsOf(deps, settlementId)).toMatchObject([
      { action: 'payout-file', after: { batch: 1, approved: { used_at: expect.any(String) } } },
    ])
    const grew = `Settlement ${settlementId} entered payout batch 1, and by now its figures are.*`
    expect(deps.published.filter(({ kind }) => kind === 'payout.changed')).toMatchObject([
      { subject: settlementId, message: expect.stringMatching(`${grew} --cancel 1 is for`) },
    ])
    await cancelFile(deps, 1)
    expect((await fileOf(deps)).leftOut).toMatchObject([
      { reason: expect.stringMatching(/the last one was used at|owed/) },
    ])
  })

  // Written are: the open batch, two claims at once, the ready batch.
  it.each(
    [1, 2, 3, 4].flatMap((write) => ['before', 'after'].map((when) => [when, write] as const)),
  )('is whole after a crash %s write %i, and claims nothing twice', async (when, write) => {
    const deps = memoryDeps()
    const ids = [await aWaitingSettlement(deps), await aWaitingSettlement(deps)].map(
      ({ settlementId }) => settlementId,
    )
    let writes = 0
    const dying = interceptTable(deps, {
      [when]: ({ name }: TableCall) => {
        if (name === 'transact' && ++writes >= write) throw new Error('killed')
      },
    })
    expect((await askForFile(dying)).status).toBe(500)

    await fileOf(deps)

    await expectFile(deps, { batch: null, leftOut: [{}, {}] })
    expect(await fileOf(deps, { batch: 1 })).toMatchObject({ batch: { count: 2 }, ids })
    for (const id of ids) expect(await auditRecordsOf(deps, id)).toHaveLength(1)
    await expectHouseBalanced(deps)
  })

  it('leaves a settlement out that was closed or claimed elsewhere before its claim', async ({
    deps,
  }) => {
    const one = await aWaitingSettlement(deps)
    const other = await aWaitingSettlement(deps)
    const raced = beforeCommit(deps, () => fail(deps, one))

    expect(await fileOf(raced)).toMatchObject({
      batch: { number: 1, count: 1 },
      ids: [other.settlementId],
      leftOut: [{ settlement_id: one.settlementId }],
    })
  })

  it('makes one batch for two operators at the same time', async ({ deps }) => {
    const { settlementId } = await aWaitingSettlement(deps)
    const overtaken = beforeCommit(deps, () => askForFile(deps))

    expect(await askForFile(overtaken)).toMatchObject({
      status: 409,
      body: { message: 'another operator makes a payout file; try again' },
    })
    expect(await findAnySettlement(deps, settlementId)).toMatchObject({ batch: 1 })
    expect(await fileOf(deps, { batch: 1 })).toMatchObject({ ids: [settlementId] })
  })

  it('frees the settlements of a cancelled batch for the next, once and with an approval', async ({
    deps,
  }) => {
    const { settlementId } = await aWaitingSettlement(deps)
    await fileOf(deps)
    deps.clock.advance(1)

    const { body } = await askForFile(deps, { cancel: 1 })
    expect(body).toMatchObject({ message: 'notes: say why' })
    expect(await askForFile(deps, { cancel: 1, notes: 'x' })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('payout-file needs an approval') },
    })
    expect(await cancelFile(deps, 1)).toMatchObject({ body: { batch: { state: 'cancelled' } } })
    const message = 'batch 1 is cancelled already'
    expect(await cancelFile(deps, 1)).toMatchObject({ status: 422, body: { message } })
    expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 422 })
    await expectFile(deps, { batch: { number: 2 }, ids: [settlementId] })
    await expectHouseBalanced(deps)
    expect(await auditRecordsOf(deps, 'batch:1')).toMatchObject([
      { after: { state: 'ready' } },
      { before: { state: 'ready' }, after: { state: 'cancelled', notes: 'not sent' } },
    ])
  })

  it('refuses a file whose lines changed, and an unknown batch', async ({ deps }) => {
    await aWaitingSettlement(deps)
    await fileOf(deps)
    await changeRow(deps, batchKey(1), { set: { settlementIds: [] } })

    expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 409 })
    expect(await auditWholeGateway(deps)).toMatchObject({
      differences: [{ what: 'batch.settlement_ids' }],
    })
    expect(await askForFile(deps, { batch: 2 })).toMatchObject({ status: 404 })
    expect(await cancelFile(deps, 2)).toMatchObject({ status: 404 })
    const refused = { status: 422, body: { message: 'body: give one of batch, cancel and cursor' } }
    expect(await askForFile(deps, { batch: 1, cancel: 1 })).toMatchObject(refused)
    for (const one of [{ batch: 1 }, { cancel: 1 }])
      expect(await askForFile(deps, { ...one, cursor: 'e30' })).toMatchObject(refused)
  })

  it('continues at the cursor with a further batch when one run cannot read all clients', async ({
    deps,
  }) => {
    const { clientId, settlementId } = await aWaitingSettlement(deps)
    const { createdAt } = await requireClient(deps, clientId)
    for (let made = 0; made < 40; made++) await withoutFloor(deps)
    const last = await aWaitingSettlement(deps)
    let readMs = 0

    const { body } = await askForFile({ ...deps, monotonicMs: () => (readMs += 200_000) })

    expect(body).toMatchObject({ batch: { number: 1 }, continuing: true })
    const { cursor } = body as { readonly cursor?: string }
    expect(await fileOf(deps, { cursor })).toMatchObject({
      batch: { number: 2 },
      ids: [last.settlementId],
    })
    expect(settlementId).not.toBe(last.settlementId)
    expect(createdAt < (await requireClient(deps, last.clientId)).createdAt).toBe(true)
  })
})

type Change = (deps: MemoryDeps, clientId: ClientId) => Promise<unknown>

function changed(set: Readonly<Record<string, unknown>>): Change {
  return (deps, clientId) => changeRow(deps, clientKey(clientId), { set })
}

async function recordDifference(deps: MemoryDeps, clientId: ClientId) {
  const difference = { what: 'window', id: 'window', expected: 1, found: 2 }
  await recordDifferences(deps, clientId, new Map([['kept', [difference]]]))
}
