import * as v from 'valibot'
import type { Payload } from '../action-command.ts'
import { parseCsv } from '../parse-csv.ts'
import { runsOf } from '../runs-of.ts'

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
  const asking = (asked: Payload) => ask(action, asked)
  for await (const answer of runsOf(action, payload, asking, MAX_PARTS)) {
    const { status, body } = v.parse(Reply, answer)
    if (status !== 200) throw new Refusal(`${action} was refused: ${body.message ?? status}`)
    yield v.parse(part, body)
  }
}

type CsvRow = Readonly<Record<string, string>>

/** Reads the parts of a CSV, of which only the first has the names of the columns. */
export function csvReader(): (text: string) => readonly CsvRow[] {
  let names: readonly string[] | undefined
  return (text) => {
    const rows = parseCsv(text) ?? []
    const others = names === undefined ? rows.slice(1) : rows
    names ??= rows[0] ?? []
    const columns = names
    return others.map((cells) =>
      Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ''])),
    )
  }
}
