import * as v from 'valibot'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'

/**
 * A function that an operator can start. Functions of queues take messages, which no operator
 * writes by hand.
 */
export const ACTIONS: readonly FunctionSpec[] = (['operator', 'schedule'] as const).flatMap(
  (kind) => MANIFEST.filter(({ trigger }) => trigger.kind === kind),
)

/**
 * A handler's description of itself. `input` is the schema that the handler parses with; undefined
 * without fields.
 */
const DescriptionSchema = v.object({
  summary: v.string(),
  input: v.optional(v.custom<v.GenericSchema>(isSchema)),
})
export type ActionDescription = v.InferOutput<typeof DescriptionSchema> & {
  /** Takes `--file`: a call for each line, or the bank's answer to a payout file. */
  readonly takesFile?: 'lines' | 'answer' | undefined
  /** Its answer has a file, which is written into the folder of `--out`. */
  readonly writesFile?: boolean
  /** The answer has `next` if items are left. `--all` continues from `next`. */
  readonly isPaged?: boolean
}

// A handler is a function with properties.
const Handler = v.pipe(
  v.function(),
  v.transform((handler): object => Object.assign({}, handler)),
  DescriptionSchema,
)

export async function describeAction({ name, entry }: FunctionSpec): Promise<ActionDescription> {
  const module: unknown = await import(new URL(`../../../${entry}`, import.meta.url).href)
  const { handler } = v.parse(v.object({ handler: Handler }), { ...Object(module) })
  return {
    ...handler,
    takesFile: name === 'approve' ? 'lines' : name === 'payout-answer' ? 'answer' : undefined,
    writesFile: name === 'payout-file',
    isPaged: name === 'redeliver',
  }
}

function isSchema(value: unknown): boolean {
  return v.is(v.object({ kind: v.literal('schema') }), value)
}
