import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { csv } from '../../../shared/settlement/statement/csv.ts'
import {
  cellsOf,
  type LeftOut,
  type PayoutFile,
  type PayoutRun,
  PayoutRunSchema,
  type Spreadsheet,
} from '../../local/console/page/operate/operate-shapes.ts'
import { UsageError } from '../../local/terminal/command-line.ts'
import { type CommandIo, type Output, printableLine } from '../../local/terminal/printable.ts'
import type { ActionCall, Payload } from './action-command.ts'
import { invokeAction, ReplySchema } from './invoke-action.ts'
import type { ListedAction } from './listed-actions.ts'
import { commandOf, renderRefusal, withCommands } from './render-reply.ts'
import { runsOf } from './runs-of.ts'

const RunReply = v.object({ status: v.literal(200), body: PayoutRunSchema })

const APPROVALS = 'payout-approvals.csv'

/**
 * Runs `payout-file` until every client was read, and writes the file of each batch. It overwrites
 * no payout file, because a person may have filled it in. What lacks an approval goes into a file
 * for `approve --file`. Answers whether all was done.
 */
export async function writePayoutFiles(
  spec: ListedAction,
  { folder, ...call }: ActionCall & { readonly folder: string },
  io: CommandIo,
) {
  if (!existsSync(folder)) throw new UsageError(`there is no folder ${folder}`)
  const { stage } = call
  const leftOut: LeftOut[] = []
  const ask = (payload: Payload) => invokeAction(spec, { ...call, payload }, io.env)
  let hasApprovals = false
  try {
    for await (const answer of runsOf(spec.name, call.payload, ask)) {
      const reply = v.safeParse(RunReply, answer)
      if (!reply.success) {
        io.err(renderRefusal(spec.name, stage, v.parse(ReplySchema, answer)))
        return false
      }
      const { batch, file, left_out: added } = reply.output.body
      leftOut.push(...added)
      if (batch) io.out(textOf(batch))
      if (batch && file)
        await writeFile(folder, file, `${commandOf(spec.name, stage)} --batch ${batch.number}`, io)
    }
  } finally {
    // A run that fails does not hide what the earlier runs left out.
    for (const { settlement_id: id, reason, command } of leftOut) {
      const text = `Left out: ${id}: ${reason}${command ? `. ${command}` : ''}`
      io.err(printableLine(withCommands(text, stage)))
    }
    hasApprovals = writeApprovals(join(folder, APPROVALS), stage, leftOut, io)
  }
  return hasApprovals
}

function textOf({
  number,
  state,
  count,
  total_minor: total,
  digest,
}: NonNullable<PayoutRun['batch']>) {
  const lines = state === 'ready' ? `, ${count} payouts, ${total ?? 0} IDR, digest ${digest}` : ''
  return `Batch ${number}: ${state}${lines}`
}

async function writeFile(folder: string, file: PayoutFile, again: string, io: Output) {
  const path = join(folder, file.name)
  const bytes = 'text' in file ? file.text : await xlsxOf(file)
  try {
    writeFileSync(path, bytes, { flag: 'wx' })
  } catch (cause) {
    const text = `${path} cannot be written, or exists; ${again} --out FOLDER writes it again`
    throw new UsageError(text, { cause })
  }
  io.out(`Written: ${path}`)
  if ('text' in file)
    io.err('This CSV is for programs: a spreadsheet drops zeros. Format xlsx is for people.')
}

async function xlsxOf(file: Spreadsheet) {
  const { default: writeXlsxFile } = await import('write-excel-file/node')
  return writeXlsxFile(cellsOf(file), { sheet: 'Payouts' }).toBuffer()
}

/** False if the file cannot be written. A thrown error would hide why the runs have ended. */
function writeApprovals(path: string, stage: string, leftOut: readonly LeftOut[], io: Output) {
  const rows = leftOut.flatMap(({ settlement_id, confirm }) =>
    confirm
      ? [{ action: 'mark-settlement-paid', payload: JSON.stringify({ settlement_id, ...confirm }) }]
      : [],
  )
  if (rows.length === 0) return true
  try {
    writeFileSync(path, csv(['action', 'payload'], rows))
  } catch (cause) {
    io.err(
      printableLine(
        `${rows.length} settlements need an approval, but ${path} cannot be written ` +
          `(${String(cause)}). Make it writable, then run payout-file again.`,
      ),
    )
    return false
  }
  io.err(
    `${rows.length} settlements need an approval: a person with the duty approve checks ${path}, ` +
      `and runs ${commandOf('approve', stage)} --file ${path}. Then run payout-file again.`,
  )
  return true
}
