import * as v from 'valibot'
import type { Payload } from '../admin/action-command.ts'
import { InvocationFailed } from '../admin/invoke-action.ts'
import { parseCsv } from '../admin/parse-csv.ts'

export type Ask = (action: string, payload: Payload) => Promise<unknown>

/** The month names a refused action and goes on. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

const Reply = v.object({
  status: v.number(),
  body: v.looseObject({ message: v.optional(v.string()) }),
})

/** A run of books reads for minutes; a part of a statement has thousands of lines. */
const MAX_PARTS = 10_000

/** The parts of an answer, until nothing is left. Throws `Refusal`. */
export async function* partsOf<const Part extends v.GenericSchema>(
  ask: Ask,
  action: string,
  payload: Payload,
  part: Part,
): AsyncGenerator<v.InferOutput<Part>> {
  let cursor: unknown
  for (let count = 0; count < MAX_PARTS; count++) {
    const asked = cursor === undefined ? payload : { ...payload, cursor }
    const { status, body } = v.parse(Reply, await ask(action, asked))
    if (status !== 200) throw new Refusal(`${action} was refused: ${body.message ?? status}`)
    yield v.parse(part, body)
    if (body['continuing'] !== true) return
    cursor = body['cursor']
  }
  throw new InvocationFailed(`${action} was not finished after ${MAX_PARTS} parts`)
}

type CsvRow = Readonly<Record<string, string>>

/** Reads the parts of a CSV, of which only the first has the names of the columns. */
export function csvReader(): (text: string) => readonly CsvRow[] {
  let names: readonly string[] | undefined
  return (text) => {
    const [first = [], ...others] = parseCsv(text) ?? []
    const rows = names === undefined ? others : [first, ...others]
    names ??= first
    const columns = names
    return rows
      .filter((cells) => cells.length === columns.length)
      .map((cells) => Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ''])))
  }
}
