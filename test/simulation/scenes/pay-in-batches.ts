import type { RawItem } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import { type World, waitFor } from '../world/world.ts'
import type { Scene } from './http.ts'

type Row = readonly (string | number)[]

/**
 * An operator makes a payout file; a second person approves what was left out, most often. Then the
 * bank pays most lines, refuses a few, and its answer comes once or twice, or the file was never
 * sent.
 */
export async function payInBatches({ world }: Scene) {
  for (let tried = 0; tried < 2; tried++) {
    const body = await fileOf(world, {})
    for (const one of listIn(body, 'left_out')) await approveLeftOut(world, one)
    const rows = rowsIn(body)
    const number = Number(Object(body?.['batch'])['number'])
    if (rows.length === 0) continue
    reportSituation(world, 'payouts go out in a batch')
    if (world.scenePrng.chance(0.2)) {
      await cancel(world, number)
      continue
    }
    await waitFor(world, world.scenePrng.int(1, 8) * 3_600_000)
    await answer(world, rows)
    if (world.scenePrng.chance(0.3)) await answer(world, rows)
  }
}

async function fileOf(world: World, asked: object) {
  const reply = await operate(world, 'payout-file', { format: 'xlsx', ...asked })
  count(world.tally, `payout file: ${reply?.status ?? 'nothing'}`)
  return reply?.status === 200 ? reply.body : undefined
}

function listIn(body: RawItem | undefined, name: string) {
  const list = body?.[name]
  return Array.isArray(list) ? list : []
}

function rowsIn(body: RawItem | undefined) {
  const rows: unknown = Object(body?.['file'])['rows']
  return Array.isArray(rows) ? rows.slice(1) : []
}

async function approveLeftOut(world: World, { settlement_id, confirm }: RawItem) {
  if (confirm === undefined || world.scenePrng.chance(0.3)) return
  const payload = { settlement_id, ...Object(confirm) }
  await operate(world, 'approve', { action: 'mark-settlement-paid', payload, operator: 'approver' })
}

/** The file was not sent: a person says so, and another approves it. */
async function cancel(world: World, number: number) {
  const reply = await operate(world, 'payout-file', { cancel: number, notes: 'not sent' })
  if (reply?.status === 200) reportSituation(world, 'a payout batch is cancelled')
}

async function answer(world: World, rows: readonly Row[]) {
  const lines = rows.map((row, at) => {
    const id = String(row[2])
    // The same for each answer of one file.
    const isRefused = /[0-2]$/.test(id)
    return {
      line: at + 2,
      settlement_id: id,
      amount_minor: Number(row[4]),
      bank_account_no: String(row[7]),
      batch: Number(row[0]),
      ...(isRefused
        ? { outcome: 'failed', reason: 'Rekening tutup' }
        : { outcome: 'paid', bank_reference: `file of ${id}` }),
    }
  })
  const reply = await operate(world, 'payout-answer', { lines })
  for (const { result } of listIn(reply?.body, 'lines'))
    count(world.tally, `payout answer: ${String(result)}`)
}
