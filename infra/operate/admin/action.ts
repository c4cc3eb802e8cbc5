import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as v from 'valibot'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'

const PROJECT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))

/** What an operator can have done. What a queue or the stream starts takes messages, which nobody writes by hand. */
export const ACTIONS: readonly FunctionSpec[] = MANIFEST.filter(
  ({ trigger }) => trigger.kind === 'operator' || trigger.kind === 'schedule',
)

export const findAction = (name: string): FunctionSpec | undefined => ACTIONS.find((spec) => spec.name === name)

/** What a handler says of itself; its input schema is the very one it parses with, undefined for what takes no fields. */
export type Described = { readonly summary: string; readonly input?: v.GenericSchema | undefined }

const Module = v.object({
  handler: v.pipe(
    v.function(),
    // A handler is a function; its properties are looked at.
    v.transform((handler): object => Object.assign({}, handler)),
    v.object({ summary: v.string(), input: v.optional(v.custom<v.GenericSchema>(isSchema)) }),
  ),
})

function isSchema(value: unknown): boolean {
  return v.is(v.object({ kind: v.literal('schema') }), value)
}

/** Reads an action's own words and fields from its handler. */
export const describedAction = async ({ entry }: FunctionSpec): Promise<Described> => {
  const module: unknown = await import(pathToFileURL(join(PROJECT, entry)).href)
  return v.parse(Module, { ...Object(module) }).handler
}

/** The first sentence of an action's summary. */
export const firstSentence = (summary: string): string => /^.*?\.(?=\s|$)/.exec(summary)?.[0] ?? summary
