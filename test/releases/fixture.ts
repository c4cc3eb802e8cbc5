import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { fromItem } from '../../shared/table/attributes.ts'
import { memoryDeps } from '../support/memory-deps.ts'
import { READERS } from './readers.ts'
import { kindOf, type RawItem } from './stored-shape.ts'

/** An item as a release wrote it, and what this project read of it when it was kept. */
export type Kept = { readonly kind: string; readonly item: RawItem; readonly read?: unknown }

const DIRECTORY = join(import.meta.dirname, 'written-by')
/** Of the release that is being made: at its tag it is named as that is. */
export const NEXT = 'next'

export const keptReleases = (): readonly string[] => readdirSync(DIRECTORY).map((file) => file.replace(/\.jsonl$/, ''))

const pathOf = (release: string) => join(DIRECTORY, `${release}.jsonl`)

/** An item to a line. */
export const readFixture = (release: string): readonly Kept[] =>
  readFileSync(pathOf(release), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Kept)

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, member: unknown) =>
      member instanceof Set ? [...member].map(String).toSorted((a, b) => a.localeCompare(b)) : member,
    ) ?? 'null',
  )

/** What this release reads of an item that alone stands in the table; undefined of a kind that is not read. */
export const readToday = async (raw: RawItem): Promise<unknown> => {
  const read = READERS[kindOf(raw)]
  if (!read) return undefined
  const item = unmarshall(raw)
  return plain(await read(fromItem(item), memoryDeps({}, [item])))
}

export const writeFixture = async (release: string, items: readonly RawItem[]): Promise<void> => {
  const lines: string[] = []
  for (const item of items) {
    const read = await readToday(item)
    lines.push(JSON.stringify({ kind: kindOf(item), item, ...(read !== undefined && { read }) }))
  }
  writeFileSync(pathOf(release), `${lines.toSorted((a, b) => a.localeCompare(b)).join('\n')}\n`)
}
