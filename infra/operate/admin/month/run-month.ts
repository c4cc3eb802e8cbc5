import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bookDay, endOfBookDay } from '../../../../shared/journal/day-totals.ts'
import { addMs, DAY_MS, type Timestamp, timestampOf } from '../../../../shared/time.ts'
import { UsageError } from '../../../local/terminal/command-line.ts'
import { type Output, printableLine } from '../../../local/terminal/printable.ts'
import { type Days, writeBooks, writeStatement, writeSuspense } from './month-files.ts'
import { type ClientMonth, monthPage } from './month-page.ts'
import { type Ask, Refusal } from './month-parts.ts'

type MonthOptions = { readonly month: string; readonly folder: string; readonly now: Timestamp }

/**
 * Writes the files of a month of Asia/Jakarta into an empty folder, and a first page that adds them
 * up. Changes nothing on the stage, and has one part of a statement in memory. Answers whether
 * everything was written and adds up. Throws `UsageError` for a folder that has files.
 */
export async function runMonth(
  { month, folder, now }: MonthOptions,
  ask: Ask,
  io: Output & { readonly say: (text: string) => void },
) {
  const days = daysOf(month, now)
  prepareFolder(folder)
  const place = { folder, ask }
  const refusals: string[] = []
  /** A refused statement stops no other one. */
  const noteRefusal = (about: string) => (error: unknown) => {
    if (!(error instanceof Refusal)) throw error
    refusals.push(`${about}: ${error.message}`)
    return undefined
  }
  io.say('month: the books are read')
  const books = await writeBooks(days, place).catch(noteRefusal('Books'))
  const clients: ClientMonth[] = []
  for (const client of books?.clients ?? []) {
    io.say(`month: ${clients.length} of ${books?.clients.length} statements are written`)
    const about = `Statement of client ${client.clientId}`
    const statement = await writeStatement(client.clientId, days, place).catch(noteRefusal(about))
    clients.push({ ...client, statement })
  }
  io.say('month: cases, suspense and findings are read')
  const unreadable = (await writeSuspense(days, place).catch(noteRefusal('Suspense'))) ?? []
  if (unreadable.length > 0)
    refusals.push(`Suspense: rows that cannot be read: ${unreadable.join(', ')}.`)
  const page = monthPage({ ...days, madeAt: now, books, clients, refusals })
  const file = join(folder, 'month.md')
  writeFileSync(file, page.text)
  for (const sentence of page.wrong) io.err(printableLine(sentence))
  const result = page.wrong.length === 0 ? 'all adds up' : `${page.wrong.length} problems`
  io.out(printableLine(`${file}: ${clients.length} clients, ${result}`))
  return page.wrong.length === 0
}

/** A month that is not over ends today. */
function daysOf(month: string, now: Timestamp): Days {
  if (!/^20\d{2}-(0[1-9]|1[0-2])$/.test(month))
    throw new UsageError(`${printableLine(month)} is not a month: write it as 2026-11`)
  const [from, today] = [`${month}-01`, bookDay(now)]
  if (from > today) throw new UsageError(`${month} has not begun: in Jakarta it is ${today}`)
  const nextMonth = addMs(timestampOf(Date.parse(from)), 31 * DAY_MS).slice(0, 'yyyy-mm'.length)
  const last = bookDay(addMs(endOfBookDay(`${nextMonth}-01`), -DAY_MS - 1))
  return { from, to: last < today ? last : today }
}

function prepareFolder(folder: string) {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${folder} is not empty: give a new folder`)
  mkdirSync(join(folder, 'statements'), { recursive: true })
}
