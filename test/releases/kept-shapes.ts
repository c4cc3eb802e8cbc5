import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { fromItem } from '../../shared/table/attributes.ts'
import { memoryDeps } from '../support/memory-deps.ts'
import { READERS } from './readers.ts'
import { kindOf, type RawItem } from './stored-shape.ts'

/** An item as a release stored it, and what that release read of it; a kind that no flow reads has no answer. */
export type Kept = { readonly item: RawItem; readonly read?: unknown }

/** One file for each tag, from v1.0.0 on. A kept file never changes. */
export const WRITTEN_BY = join(import.meta.dirname, 'written-by')

const pathOf = (directory: string, tag: string) => join(directory, `${tag}.jsonl`)

export const keptTags = (directory: string): readonly string[] =>
  readdirSync(directory).flatMap((file) => (file.endsWith('.jsonl') ? [basename(file, '.jsonl')] : []))

export const readKept = (directory: string, tag: string): readonly Kept[] =>
  readFileSync(pathOf(directory, tag), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Kept)

/** Fails if the tag has a file already. */
export const keep = (directory: string, tag: string, kept: readonly Kept[]): void => {
  const lines = kept.map((one) => JSON.stringify(one)).toSorted((a, b) => a.localeCompare(b))
  writeFileSync(pathOf(directory, tag), `${lines.join('\n')}\n`, { flag: 'wx' })
}

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, member: unknown) =>
      member instanceof Set ? [...member].map(String).toSorted((a, b) => a.localeCompare(b)) : member,
    ) ?? 'null',
  )

/** What this tree reads of an item that is alone in the table; undefined for a kind that no flow reads. */
export const readToday = async (raw: RawItem): Promise<unknown> => {
  const read = READERS[kindOf(raw)]
  if (!read) return undefined
  const item = unmarshall(raw)
  return plain(await read(fromItem(item), memoryDeps({}, [item])))
}
