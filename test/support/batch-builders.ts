import * as v from 'valibot'
import { expect } from 'vitest'
import type { Client } from '../../shared/client/client.ts'
import { approve } from '../../shared/operator/approve.ts'
import { batchSubject } from '../../shared/settlement/batch/batch.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { auditHeadKey } from '../../shared/table/keys.ts'
import { adjustBalance } from './money-rows.ts'
import { invokeWhole, OPERATOR } from './operator-actions.ts'
import { auditedNow, sweptNow, withoutFloor } from './settlement-builders.ts'
import { beforeFirst, interceptTable, memoryDeps, type TestDeps, writesTo } from './test-deps.ts'
import { APPROVER } from './with-approval.ts'

const Answer = v.object({
  batch: v.nullish(v.object({ number: v.number(), state: v.string(), count: v.number() })),
  file: v.nullish(
    v.object({ name: v.string(), rows: v.array(v.array(v.union([v.string(), v.number()]))) }),
  ),
  left_out: v.optional(v.array(v.object({ settlement_id: v.string(), reason: v.string() })), []),
})

/** The answer of `payout-file`, without a second person. */
export function askForFile(deps: TestDeps, input: object = {}) {
  return invokeWhole('payout-file', deps, { operator: OPERATOR, ...input })
}

export async function fileOf(deps: TestDeps, input: object = {}) {
  const { status, body } = await askForFile(deps, input)
  const { batch, file, left_out: leftOut } = v.parse(Answer, body)
  const rows = file?.rows.slice(1) ?? []
  return { status, batch, rows, ids: rows.map((row) => row[2]), leftOut }
}

export async function expectFile(deps: TestDeps, fields: object) {
  expect(await fileOf(deps)).toMatchObject(fields)
}

/** The next file has no line, and leaves out this payout alone. */
export function expectLeftOut(deps: TestDeps, { settlementId }: Settlement) {
  const leftOut = [{ settlement_id: settlementId }]
  return expectFile(deps, { ids: [], leftOut })
}

/** With the approval of a second person. */
export async function cancelFile(deps: TestDeps, number: number) {
  await approve(deps, { action: 'payout-file', payload: { cancel: number }, operator: APPROVER })
  return askForFile(deps, { cancel: number, notes: 'not sent' })
}

/** The bank's line of a settlement. */
export function lineOf({ settlementId, netMinor, bank }: Settlement, fields: object) {
  const account = { bank_account_no: bank?.bankAccountNo }
  return { line: 2, settlement_id: settlementId, amount_minor: netMinor, ...account, ...fields }
}

export function answerLine(deps: TestDeps, settlement: Settlement, fields: object) {
  const lines = [lineOf(settlement, fields)]
  return invokeWhole('payout-answer', deps, { operator: OPERATOR, lines })
}

export function answerPaid(deps: TestDeps, settlement: Settlement, fields: object = {}) {
  return answerLine(deps, settlement, { outcome: 'paid', bank_reference: 'BCA17', ...fields })
}

/** Changes the client of a settlement. */
export function changing(change: object) {
  return (deps: TestDeps, { clientId: client_id }: Pick<Client, 'clientId'>) =>
    invokeWhole('update-client', deps, { operator: OPERATOR, client_id, ...change })
}

/** A settlement that waits for its payout, of its own client unless one is given. */
export async function aWaitingSettlement(
  deps: TestDeps,
  { amount = 95_900, ...fields }: Partial<Client> & { readonly amount?: number } = {},
  client?: Pick<Client, 'clientId'>,
) {
  deps.clock.advance(1)
  const owner = client ?? (await withoutFloor(deps, fields))
  await adjustBalance(deps, owner, 'correction', amount)
  const settlement = await sweptNow(deps, owner)
  await auditedNow(deps, settlement)
  return settlement
}

/** The same, alone in its table. */
export async function aLonePayout() {
  const deps = memoryDeps()
  return { deps, ...(await aWaitingSettlement(deps)) }
}

export async function twoInABatch(make: (deps: TestDeps) => Promise<unknown> = fileOf) {
  const deps = memoryDeps()
  const [paid, other] = [await aWaitingSettlement(deps), await aWaitingSettlement(deps)]
  await make(deps)
  return { deps, paid, other }
}

/** The process dies after its claims: the batch stays open. */
export async function dyingFileOf(deps: TestDeps) {
  const die = () => Promise.reject(new Error('the process dies'))
  await askForFile(beforeBatchChanges(deps, die))
}

/** Runs `other` before the first transaction that changes the batch after it was opened. */
export function beforeBatchChanges(deps: TestDeps, other: () => Promise<unknown>) {
  return beforeFirst(deps, writesTo(auditHeadKey(batchSubject(1))), other)
}

/** Runs `other` after the two lines of a batch are read to make it ready. */
export function afterLinesAreRead(deps: TestDeps, other: () => Promise<unknown>) {
  let reads = 0
  return interceptTable(deps, {
    after: async (call) => {
      const [first, second] = call.name === 'batchGet' ? call.keys : []
      if (second && first?.sk === 'SETTLEMENT' && ++reads === 2) await other()
    },
  })
}
