import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { fromItem } from '../../shared/table/attributes.ts'
import { runHistory } from '../simulation/histories/history.ts'
import type { Play } from '../simulation/histories/play.ts'
import { KINDS, kindOf, type RawItem } from './readers.ts'

/**
 * Keeps the first item of each shape (kind, status, attributes), and each item with a new
 * attribute.
 */
export function createShapes() {
  const seen = new Set<string>()
  const kept: RawItem[] = []
  const note = (stored: object): void => {
    const item: RawItem = marshall(stored, { removeUndefinedValues: true })
    const kind = KINDS.indexOf(kindOf(item))
    const types = Object.entries(item).flatMap(([name, value]) => typesIn(`${kind} ${name}`, value))
    const outer = types.filter((type) => !/[.[]/.test(type)).toSorted()
    const news = [[item['status']?.S, ...outer].join('; '), ...types].filter(
      (type) => !seen.has(type),
    )
    for (const one of news) seen.add(one)
    if (news.length > 0) kept.push(item)
  }
  return { note, kept }
}

/** The types of an attribute and of the attributes inside it: `reversal: M`, `reversal.at: S`. */
function typesIn(path: string, value: AttributeValue): readonly string[] {
  const inside = value.M
    ? Object.entries(value.M).flatMap(([name, member]) => typesIn(`${path}.${name}`, member))
    : (value.L ?? []).flatMap((element) => typesIn(`${path}[]`, element))
  return [`${path}: ${Object.keys(value).join()}`, ...inside]
}

/** What this tree reads of an item that is alone in the table, as JSON values. */
export function readToday(raw: RawItem): unknown {
  const [, read] = kindOf(raw)
  const asArray = (_: string, member: unknown) =>
    member instanceof Set ? [...member].map(String).toSorted((a, b) => a.localeCompare(b)) : member
  return read && JSON.parse(JSON.stringify(read(fromItem(unmarshall(raw))), asArray))
}

/** `read` is missing if no flow reads the kind. */
export type Kept = { readonly item: RawItem; readonly read?: unknown }

/**
 * One item of every shape that this tree stores in these histories of the simulation, between the
 * writes of a flow too.
 */
export async function collectShapes(seeds: readonly number[]) {
  const { note, kept } = createShapes()
  for (const seed of seeds) {
    const began = ({ world }: Play) => {
      world.table.items().forEach(note)
      world.onChange.push(({ after }) => after && note(after))
    }
    await runHistory({ seed, operations: 36, began })
  }
  return kept.map((item) => ({ item, read: readToday(item) }))
}

export function textOf(kept: readonly Kept[]) {
  return kept.map((item) => `${JSON.stringify(item, bytesAsText)}\n`).join('')
}

export function keptIn(text: string) {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line, textAsBytes) as Kept)
}

/** As in the JSON of DynamoDB's API. */
function bytesAsText(_: string, member: unknown): unknown {
  return member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member
}

function textAsBytes(name: string, member: unknown): unknown {
  return name === 'B' && typeof member === 'string'
    ? Uint8Array.from(Buffer.from(member, 'base64'))
    : member
}

/** One file for each tag, from v1.0.0 on. A kept file never changes. */
export const WRITTEN_BY = join(import.meta.dirname, 'written-by')

export function keptByTags() {
  return readdirSync(WRITTEN_BY)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) => keptIn(readFileSync(join(WRITTEN_BY, file), 'utf8')))
}
