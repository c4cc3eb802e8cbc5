import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'

/** Only for its owner: these files hold keys and secrets, or are none of anybody's business. */
const OWNER_ONLY = 0o600

/**
 * Replaces the file. A crash leaves either the old content or the new one, never a part, and once this returns the
 * content outlives the process.
 */
export const writeJsonFile = (path: string, value: unknown): void => {
  mkdirSync(dirname(path), { recursive: true })
  const next = `${path}.next`
  writeFileSync(next, `${JSON.stringify(value)}\n`, { mode: OWNER_ONLY })
  renameSync(next, path)
}

/** The file's content, or undefined when there is none. Throws, naming the file, when it does not fit the schema. */
export const readJsonFile = <const Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
): v.InferOutput<Schema> | undefined => {
  const text = readIfPresent(path)
  if (text === undefined) return undefined
  try {
    return v.parse(schema, JSON.parse(text))
  } catch {
    // Without the cause: it may quote the content.
    throw new Error(`${path} cannot be read; it was not written by this version, or was edited`)
  }
}

/** The file's text, or undefined when there is no such file. */
export const readIfPresent = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
