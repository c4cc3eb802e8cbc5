import { appendFileSync, closeSync, openSync } from 'node:fs'
import * as v from 'valibot'
import { readJsonLines, writeJsonLines } from '../process/json-file.ts'
import { type Change, TABLE_NAMES } from './simulator-store.ts'

const ChangeSchema = v.object({
  table: v.picklist(TABLE_NAMES),
  id: v.string(),
  record: v.nullable(v.looseObject({ id: v.string() })),
})
// Only this file writes the journal, so what names a table and has an id is taken for a record of that table.
const Step = v.array(v.custom<Change>((change) => v.is(ChangeSchema, change)))

const REWRITE_AFTER_BYTES = 64 * 1024 * 1024

/**
 * The simulator's memory on disk: a journal with one line per step, so that saving costs the same however much there is.
 * `loaded` is what was in the file; call `rewrite` once with the state made of it, then `append` every step.
 * A last line without its end was never answered for, and is dropped. Throws when another line cannot be read: to go on
 * without it would lose money silently.
 */
export const openStateFile = (path: string) => {
  const loaded = readJsonLines(path, Step).flat()
  let descriptor: number | undefined
  let bytes = 0

  /** Replaces the file by this state alone; a crash leaves either the old file or the new one. */
  const rewrite = (state: readonly Change[]) => {
    if (descriptor !== undefined) closeSync(descriptor)
    writeJsonLines(
      path,
      state.map((change) => [change]),
    )
    descriptor = openSync(path, 'a')
    bytes = 0
  }

  return {
    loaded,
    rewrite,
    /** Whether so much has been appended that a rewrite is worth its while. */
    isLong: () => bytes > REWRITE_AFTER_BYTES,
    /** Writes the changes of one step as one line. Once this returns, they outlive the process. */
    append: (changes: readonly Change[]) => {
      if (descriptor === undefined) throw new Error('the state file is closed')
      const line = `${JSON.stringify(changes)}\n`
      appendFileSync(descriptor, line)
      bytes += line.length
    },
    close: () => {
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
    },
  }
}
