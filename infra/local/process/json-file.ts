import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'

/** Some files hold keys and secrets. */
const OWNER_ONLY = 0o600

/**
 * After a crash the file has the old or the new content, never a part. After the return, the new
 * content survives the process.
 */
export function writeJsonFile(path: string, value: unknown) {
  writeJsonLines(path, [value])
}

/** Replaces a file with one value on each line, as `writeJsonFile` does. */
export function writeJsonLines(path: string, values: readonly unknown[]) {
  replaceFile(path, values.map((value) => `${JSON.stringify(value)}\n`).join(''))
}

/** Replaces a file with a text, as `writeJsonFile` does. */
export function replaceFile(path: string, text: string) {
  mkdirSync(dirname(path), { recursive: true })
  const nextPath = `${path}.next`
  writeFileSync(nextPath, text, { mode: OWNER_ONLY })
  renameSync(nextPath, path)
}

/**
 * Adds a line to a file of `writeJsonLines`. If it fails, as on a full disk, it leaves no part,
 * which would make the next line unreadable. Returns the length of the line.
 */
export function appendJsonLine(path: string, value: unknown) {
  const line = `${JSON.stringify(value)}\n`
  const { size } = statSync(path)
  try {
    appendFileSync(path, line)
  } catch (error) {
    truncateSync(path, size)
    throw error
  }
  return line.length
}

/** Undefined without a file. Throws with the file's name if the content does not fit the schema. */
export function readJsonFile<const Schema extends v.GenericSchema>(path: string, schema: Schema) {
  const text = readIfPresent(path)
  return text === undefined ? undefined : parseContent(text, schema, path)
}

export function readIfPresent(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parseContent<const Schema extends v.GenericSchema>(
  text: string,
  schema: Schema,
  place: string,
) {
  try {
    return v.parse(schema, JSON.parse(text))
  } catch {
    // No `cause`, because it may quote the content.
    throw new Error(
      `${place} is invalid: another version wrote it, or it was edited; use a new data directory`,
    )
  }
}

/**
 * The file has one value on each line; without a file there is none. A crash may leave a last line
 * without its end, which is left out. Throws with the line's number if another line does not fit
 * the schema.
 */
export function readJsonLines<const Schema extends v.GenericSchema>(path: string, schema: Schema) {
  const lines = (readIfPresent(path) ?? '').split('\n').slice(0, -1)
  return lines.map((line, at) => parseContent(line, schema, `${path}:${at + 1}`))
}
