import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { fromItem } from '../../shared/table/attributes.ts'
import { memoryDeps } from '../support/memory-deps.ts'
import { READERS } from './readers.ts'

/** An item as it is stored, with the types of its attributes. */
export type RawItem = Readonly<Record<string, AttributeValue>>

export const rawItem = (item: object): RawItem => marshall(item, { removeUndefinedValues: true })

const textOf = (item: RawItem, name: string): string => item[name]?.S ?? item[name]?.N ?? ''

const KINDS_APART: readonly (readonly [RegExp, string])[] = [
  [/^RATE#.+#key#/, 'RATE of a key'],
  [/^QUOTA#[^#]+#pauses$/, 'QUOTA pauses'],
  [/^SYNC#head$/, 'SYNC position'],
  [/^JOURNAL#house#.*$/, 'JOURNAL house'],
]

/** What an item is, by the words in its key: `PAYMENT EVENT`, `LEDGER SHARD`. */
export const kindOf = (item: RawItem): string => {
  const pk = textOf(item, 'pk')
  const apart = KINDS_APART.find(([pattern]) => pattern.test(pk))
  if (apart) return pk.replace(apart[0], apart[1])
  const words = `${pk} ${textOf(item, 'sk')}`.match(/\b[A-Z]{2,}\b/g) ?? []
  const named = [...new Set(words)].join(' ')
  if (named === 'PAYMENT' && textOf(item, 'status') === 'creating') return 'PAYMENT creating'
  return named === 'SYNC' ? `SYNC ${textOf(item, 'kind')}` : named
}

const typesIn = (path: string, value: AttributeValue): readonly string[] => {
  const type = Object.keys(value).join()
  const inside = value.M
    ? Object.entries(value.M).flatMap(([name, member]) => typesIn(`${path}.${name}`, member))
    : (value.L ?? []).flatMap((element) => typesIn(`${path}[]`, element))
  return [`${path}: ${type}`, ...inside]
}

/** Every attribute of an item with its type, those inside of others too: `PAYMENT reversal.at: S`. */
const attributesOf = (item: RawItem): readonly string[] => {
  const kind = kindOf(item)
  return Object.entries(item).flatMap(([name, value]) => typesIn(`${kind} ${name}`, value))
}

/** The attributes of an item and the form of its key: equal for items of one shape. */
const shapeOf = (item: RawItem): string =>
  [
    kindOf(item),
    textOf(item, 'status'),
    ...attributesOf(item)
      .filter((one) => !/[.[]/.test(one))
      .toSorted(),
  ].join('; ')

/** Keeps the first item of each shape, and each that has an attribute no earlier one had. */
export const createShapes = () => {
  const seen = new Set<string>()
  const kept: RawItem[] = []
  const note = (stored: object): void => {
    const item = rawItem(stored)
    const news = [shapeOf(item), ...attributesOf(item)].filter((one) => !seen.has(one))
    if (news.length === 0) return
    for (const one of news) seen.add(one)
    kept.push(item)
  }
  return { note, kept }
}

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
