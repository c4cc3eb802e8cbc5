/** Goal: the records of a batch decide who has its payouts, not its row (design section 15). */
import { expect, it } from 'vitest'
import { auditBatches } from '../../../shared/audit/judged/audit-batches.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { batchKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import {
  answerLine,
  askForFile,
  aWaitingSettlement,
  cancelFile,
  dyingFileOf,
  fileOf,
  twoInABatch,
} from '../../support/batch-builders.ts'
import { payOut } from '../../support/settlement-builders.ts'
import { memoryDeps, recordTable } from '../../support/test-deps.ts'

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

function inUse({ settlementId: settlement_id }: Settlement) {
  return { ids: [], leftOut: [{ settlement_id, reason: 'it is in batch 1, whose file is in use' }] }
}

it('a batch that a restore opened again gives no file after the bank’s answer to its file', async () => {
  const { deps, paid, other } = await twoInABatch(dyingFileOf)
  await answerLine(deps, paid, { outcome: 'paid', bank_reference: 'BCA17' })

  expect(await askForFile(deps)).toMatchObject({ status: 422 })
  expect(await fileOf(deps)).toMatchObject(inUse(other))
})

it('a batch whose list was altered keeps its payouts, and notes that its file is used', async () => {
  const { deps, paid, other } = await twoInABatch()
  await deps.table.write(update(batchKey(1), { set: { settlementIds: [] } }, exists))

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
