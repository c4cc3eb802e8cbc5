import { expect, it } from 'vitest'
import { handler as payoutAnswer } from '../../../functions/admin/payout-answer.ts'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import { batchSubject } from '../../../shared/settlement/batch/batch.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { auditHeadKey, batchKey } from '../../../shared/table/keys.ts'
import {
  answerLine,
  askForFile,
  aWaitingSettlement,
  cancelFile,
  dyingFileOf,
  fileOf,
  twoInABatch,
} from '../../support/batch-builders.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { payOut } from '../../support/settlement-builders.ts'
import { alter } from '../../support/tampering.ts'
import {
  interceptTable,
  memoryDeps,
  recordTable,
  type TableCall,
  type TestDeps,
  writtenKeys,
} from '../../support/test-deps.ts'

it('a batch that a crash left open gives its file again, though one payout is made by hand', async () => {
  const { deps, paid, other } = await twoInABatch(dyingFileOf)
  await payOut(deps, paid)

  const lost = await fileOf(deps)
  const again = await fileOf(deps, { batch: 1 })

  expect(lost.ids).toStrictEqual([other.settlementId])
  expect(again).toStrictEqual(lost)
  expect(await auditBatches(deps)).toStrictEqual([])
  expect(await cancelFile(deps, 1)).toMatchObject({ status: 200 })
  expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId])
})

it('a file has a payout once, though the list of its open batch was altered to name it twice', async () => {
  const { deps, paid, other } = await twoInABatch(dyingFileOf)
  const settlementIds = [paid, other, paid].map(({ settlementId }) => settlementId)
  await alter(deps, batchKey(1), { settlement_ids: settlementIds })

  expect((await fileOf(deps)).ids).toStrictEqual(settlementIds.slice(0, 2))
  expect(await auditBatches(deps)).toStrictEqual([])
})

function inUse({ settlementId: settlement_id }: Settlement) {
  return { ids: [], leftOut: [{ settlement_id, reason: 'it is in batch 1, whose file is in use' }] }
}

/** The process dies before its first claim. */
function openedOnly(deps: TestDeps) {
  const { pk } = batchKey(1)
  const after = (call: TableCall) => {
    if (writtenKeys([call]).some((key) => key.pk === pk)) throw new Error('the process dies')
  }
  return askForFile(interceptTable(deps, { after }))
}

it.each([
  ['claimed', dyingFileOf],
  ['listed', openedOnly],
])(
  'a batch that a restore opened again keeps what it had %s when the bank answers',
  async (_, make) => {
    const { deps, paid, other } = await twoInABatch(make)
    const line = { outcome: 'paid', bank_reference: 'BCA17', batch: 1 }
    await answerLine(deps, paid, line)
    const { clientId: client_id } = other
    const hold = (payout_hold: string | null) =>
      invokeWhole(updateClient, deps, { operator: OPERATOR, client_id, payout_hold })

    await hold('a court order')
    expect(await askForFile(deps, { batch: 1 })).toMatchObject({ status: 422 })
    expect(await fileOf(deps)).toMatchObject({ batch: null })
    await hold(null)

    const { ids, leftOut } = await fileOf(deps)
    expect({ ids, leftOut: leftOut.slice(-1) }).toMatchObject(inUse(other))
    expect(await answerLine(deps, paid, line)).toMatchObject({ body: { done: 1 } })
    expect(await answerLine(deps, other, { ...line, bank_reference: 'BCA18' })).toMatchObject({
      body: { done: 1 },
    })
    expect(await auditBatches(deps)).toStrictEqual([])
  },
)

it('many lines of one answer to a batch that a restore opened again are written down', async () => {
  const deps = memoryDeps()
  const settlements = []
  for (let line = 0; line < 16; line++) settlements.push(await aWaitingSettlement(deps))
  await dyingFileOf(deps)

  const lines = settlements.map(({ settlementId, netMinor, bank }, at) => ({
    line: at + 2,
    settlement_id: settlementId,
    amount_minor: netMinor,
    bank_account_no: bank?.bankAccountNo,
    outcome: 'paid',
    bank_reference: `BCA ${at}`,
  }))
  const answer = await invokeWhole(payoutAnswer, deps, { operator: OPERATOR, lines })

  expect(answer).toMatchObject({ body: { done: 16 } })
})

it('a batch whose list was altered keeps its payouts, and notes that its file is used', async () => {
  const { deps, paid, other } = await twoInABatch()
  await alter(deps, batchKey(1), { settlement_ids: [] })

  expect(await fileOf(deps)).toMatchObject({ batch: null, ids: [] })
  const line = { outcome: 'paid', bank_reference: 'BCA17', batch: 1 }
  expect(await answerLine(deps, paid, line)).toMatchObject({ body: { done: 1 } })
  expect(await cancelFile(deps, 1)).toMatchObject({ status: 422 })
  expect(await fileOf(deps)).toMatchObject(inUse(other))
})

it('a file reads the long row of its batch as often for many lines as for one', async () => {
  const readsOf = async (lines: number) => {
    const made = memoryDeps()
    for (let line = 0; line < lines; line++) await aWaitingSettlement(made)
    const { deps, calls } = recordTable(made)
    await fileOf(deps)
    await fileOf(deps, { batch: 1 })
    return calls.filter((call) => 'keys' in call && call.keys.some(isRow)).length
  }
  const isRow = ({ pk }: { readonly pk: string }) => pk === batchKey(1).pk

  expect(await readsOf(3)).toBe(await readsOf(1))
})

it('an answer to a batch whose chain has an unreadable head names the command that repairs it', async () => {
  const { deps, paid } = await twoInABatch()
  await alter(deps, auditHeadKey(batchSubject(1)), { number: 'one' })

  const line = { outcome: 'paid', bank_reference: 'BCA17' }
  expect(JSON.stringify(await answerLine(deps, paid, line))).toContain('recount-ledger')
})
