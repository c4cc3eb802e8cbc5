import { readFile } from 'node:fs/promises'
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

const Described = v.object({ handler: v.object({ input: v.optional(v.custom<v.GenericSchema>(isSchema)) }) })

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema'
}

/** An action's own input schema: the very one it parses with. Undefined for what takes no fields. */
export const inputOf = async ({ entry }: FunctionSpec): Promise<v.GenericSchema | undefined> => {
  const module: unknown = await import(pathToFileURL(join(PROJECT, entry)).href)
  // A handler is a function; only its property is looked at.
  const parsed = v.safeParse(Described, { handler: { ...handlerOf(module) } })
  return parsed.success ? parsed.output.handler.input : undefined
}

const handlerOf = (module: unknown): object =>
  typeof module === 'object' && module !== null && 'handler' in module ? Object(module.handler) : {}

const DOCSTRING = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export const handler\b/

/**
 * The comment above an action's handler: the words that explain it to a reader of the code explain it to an operator,
 * and there is no second text to forget. The tool runs from the sources, so they are there.
 */
export const docOf = async ({ entry }: FunctionSpec): Promise<string> => {
  const source = await readFile(join(PROJECT, entry), 'utf8')
  const [, comment = ''] = DOCSTRING.exec(source) ?? []
  return comment
    .replace(/^\s*\*/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Its first sentence. */
export const summaryOf = async (spec: FunctionSpec): Promise<string> => {
  const doc = await docOf(spec)
  return /^.*?\.(?=\s|$)/.exec(doc)?.[0] ?? doc
}
