import { InvalidArgumentError } from 'commander'
import * as v from 'valibot'
import { readNamedFile, UsageError } from '../../local/terminal/command-line.ts'
import { type CommandIo, printableLine } from '../../local/terminal/printable.ts'
import { type ActionCall, type Payload, putMember, valueFrom } from './action-command.ts'
import { InvocationFailed, ReplySchema, tryAction } from './invoke-action.ts'
import type { ListedAction } from './listed-actions.ts'
import { parseCsv } from './parse-csv.ts'
import { renderRefusal } from './render-reply.ts'
import type { Field } from './schema-fields.ts'

type Line = { readonly number: number; readonly id: string; readonly payload: Payload }

const MAX_LINES = 10_000

/**
 * Calls an action for each line of a CSV file, in order, and prints each result. The columns are
 * the action's fields; of the cells only ids are printed. A refused line stops no other line; a
 * call without an answer ends the run. Answers whether every line was done. A file may be repeated
 * if the action refuses repeats.
 */
export async function runFile(
  spec: ListedAction,
  { file, ...call }: ActionCall & { readonly file: string },
  io: CommandIo,
) {
  if (call.json) throw new UsageError('--file prints a line for each call, and takes no --json')
  const lines = linesOf(file, spec.fields ?? [], call.payload)
  let done = 0
  for (const [at, { number, id, payload }] of lines.entries()) {
    const answer = await tryAction(spec, { ...call, payload }, io.env)
    if (answer instanceof InvocationFailed) {
      io.err(printableLine(`line ${number}  ${id}  no answer: ${answer.message}`))
      io.err(
        `${done} of ${lines.length} done; ${lines.length - at - 1} lines after line ${number} were not sent`,
      )
      return false
    }
    const reply = v.parse(ReplySchema, answer)
    if (reply.status >= 400)
      io.err(`line ${number}  ${printableLine(id)}  ${renderRefusal(spec.name, call.stage, reply)}`)
    else {
      done += 1
      io.out(printableLine(`line ${number}  ${id}  done`))
    }
  }
  io.out(`${done} of ${lines.length} done`)
  return done === lines.length
}

/** Reads every line before the first call, so a wrong file changes nothing. */
function linesOf(path: string, fields: readonly Field[], common: Payload): readonly Line[] {
  const rows = parseCsv(readNamedFile(path).toString())
  if (rows === undefined)
    throw new UsageError(`${path} is not CSV with commas: a quote is misplaced`)
  const [head = [], ...others] = rows
  const columns = fieldsIn(head, fields)
  if (others.every(isEmptyRow)) throw new UsageError(`${path} has no line after its column names`)
  if (others.length > MAX_LINES) throw new UsageError(`${path} has more than ${MAX_LINES} lines`)
  return others.flatMap((cells, at) =>
    isEmptyRow(cells) ? [] : [lineFrom(at + 2, cells, columns, common)],
  )
}

function isEmptyRow(cells: readonly string[]) {
  return cells.every((cell) => cell === '')
}

function fieldsIn(head: readonly string[], fields: readonly Field[]) {
  const columns = head.map((name) => fields.find((field) => field.name === name))
  const unknownNames = head.filter((_, at) => columns[at] === undefined)
  const names = fields.map(({ name }) => name).join(', ')
  if (unknownNames.length > 0)
    throw new UsageError(`the file has unknown columns: ${unknownNames.join(', ')}; use ${names}`)
  if (new Set(head).size < head.length) throw new UsageError('the file has a column twice')
  const missingFields = fields.filter(
    ({ name, required }) => required && name !== 'operator' && !head.includes(name),
  )
  if (missingFields.length > 0)
    throw new UsageError(
      `the file lacks the column ${missingFields.map(({ name }) => name).join(', ')}`,
    )
  return columns.filter((field) => field !== undefined)
}

/** An empty cell leaves its field out. */
function lineFrom(
  number: number,
  cells: readonly string[],
  columns: readonly Field[],
  common: Payload,
): Line {
  if (cells.length !== columns.length) {
    throw new UsageError(`line ${number} has ${cells.length} cells instead of ${columns.length}`)
  }
  let payload = common
  for (const [at, field] of columns.entries()) {
    const text = cells[at] ?? ''
    if (text === '' && field.required)
      throw new UsageError(`line ${number}: ${field.name} is empty`)
    if (text === '') continue
    try {
      payload = putMember(payload, field.name.split('.'), valueFrom(field, text))
    } catch (error) {
      if (error instanceof InvalidArgumentError)
        throw new UsageError(`line ${number}: ${field.name}: ${error.message}`)
      throw error
    }
  }
  const { settlement_id: id = '' } = Object(payload['payload'])
  return { number, id: String(id), payload }
}
