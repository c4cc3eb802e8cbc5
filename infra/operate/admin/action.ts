import * as v from 'valibot'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'

/** A function that an operator can start. Functions of queues take messages, which no operator writes by hand. */
export const ACTIONS: readonly FunctionSpec[] = (['operator', 'schedule'] as const).flatMap((kind) =>
  MANIFEST.filter(({ trigger }) => trigger.kind === kind),
)

const isSchema = (value: unknown): boolean => v.is(v.object({ kind: v.literal('schema') }), value)

/** What a handler says of itself; its input schema is the very one it parses with, undefined for what takes no fields. */
const Described = v.object({ summary: v.string(), input: v.optional(v.custom<v.GenericSchema>(isSchema)) })
export type Described = v.InferOutput<typeof Described> & {
  /** A file can ask for it line by line: the bank's answer to a payout run. */
  readonly takesFile?: boolean
  /** It ends at a `next`: `--all` goes on from there. */
  readonly isPaged?: boolean
}

// A handler is a function; its properties are looked at.
const Handler = v.pipe(
  v.function(),
  v.transform((handler): object => Object.assign({}, handler)),
  Described,
)

/** Reads an action's own words and fields from its handler. */
export const describedAction = async ({ name, entry }: FunctionSpec): Promise<Described> => {
  const module: unknown = await import(new URL(`../../../${entry}`, import.meta.url).href)
  const { handler } = v.parse(v.object({ handler: Handler }), { ...Object(module) })
  return { ...handler, takesFile: name === 'mark-settlement-paid', isPaged: name === 'redeliver' }
}
