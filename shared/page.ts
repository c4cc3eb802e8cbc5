import * as v from 'valibot'
import { invalidField } from './errors.ts'
import { ifValid } from './if-valid.ts'
import { parseForeignTime, TimestampSchema } from './time.ts'

/** Limits of spec sections 4.2 and 8. */
const DEFAULT_PER_PAGE = 25
const MAX_PER_PAGE = 100

export type Page = { readonly page: number; readonly perPage: number }

export function pageOf(params: { readonly page: number; readonly per_page: number }): Page {
  return { page: params.page, perPage: params.per_page }
}

/** A value out of range is clamped; a non-integer and a page above 2^53 are refused. */
export const pageParams = {
  page: v.pipe(
    integerParam('page', 1),
    // A larger number loses digits, so another page would be answered.
    v.maxValue(Number.MAX_SAFE_INTEGER, `page must be <= ${Number.MAX_SAFE_INTEGER}`),
    v.toMinValue(1),
  ),
  per_page: limitParamOf(DEFAULT_PER_PAGE, MAX_PER_PAGE, 'per_page'),
}

/** How many rows a list answers, by the parameter's name: `fallback` if absent, at most `most`. */
export function limitParamOf(fallback: number, most: number, name = 'limit') {
  return v.pipe(integerParam(name, fallback), v.toMinValue(1), v.toMaxValue(most))
}

function integerParam(name: string, fallback: number) {
  return v.pipe(
    v.optional(v.string(), String(fallback)),
    v.regex(/^[+-]?\d+$/, `${name} must be an integer`),
    v.transform(Number),
  )
}

/** `page` and `per_page` as numbers, for operator payloads. */
export const pageFields = {
  page: v.pipe(integerField(1), v.toMinValue(1)),
  per_page: v.pipe(integerField(DEFAULT_PER_PAGE), v.toMinValue(1), v.toMaxValue(MAX_PER_PAGE)),
}

/** Taken before the list is read (design section 9). */
export function listPoints(perPage: number): number {
  return Number.isNaN(perPage)
    ? 1
    : 1 + Math.floor(Math.min(Math.max(perPage, 1), MAX_PER_PAGE) / 50)
}

export function firstOfPage({ page, perPage }: Page): number {
  return (page - 1) * perPage
}

export function itemsOfPage<Item>(list: readonly Item[], page: Page): readonly Item[] {
  return list.slice(firstOfPage(page), firstOfPage(page) + page.perPage)
}

/** The order of lists: by the time of creation, then by id, newest first. */
export function newestFirst<Item extends { readonly createdAt: string }>(
  idOf: (item: Item) => string,
) {
  const placeOf = (item: Item) => `${item.createdAt} ${idOf(item)}`
  return (a: Item, b: Item): number => (placeOf(a) < placeOf(b) ? 1 : -1)
}

export function encodeCursor(position: object): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** A time in a cursor. The time must exist, because every caller can write a cursor. */
export const CursorTime = v.pipe(
  TimestampSchema,
  v.check((time) => parseForeignTime(time) === time),
)

/** Throws 422 for a text that is no such position. */
export function readCursor<const Schema extends v.GenericSchema>(
  schema: Schema,
  cursor: string | undefined,
  field: 'cursor' | 'after' = 'cursor',
): v.InferOutput<Schema> | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const position = ifValid(schema, ifValid(v.pipe(v.string(), v.parseJson()), text))
  if (position !== undefined) return position
  const reason = 'must be the cursor of an earlier answer to the same request'
  throw invalidField(field, reason, 'Omit it to begin with the first page.')
}

export function pagination({ page, perPage }: Page) {
  return { page, per_page: perPage }
}

function integerField(fallback: number) {
  return v.optional(v.pipe(v.number(), v.safeInteger()), fallback)
}

/** An operator's list. */
export function listDto<Row>(
  data: readonly Row[],
  { unreadableIds }: { readonly unreadableIds: readonly string[] },
  page: Page,
) {
  return { data, ...unreadableDto(unreadableIds), pagination: pagination(page) }
}

/** Part of an operator's list. */
export function unreadableDto(ids: readonly string[]) {
  return ids.length > 0 ? { unreadable_ids: ids } : {}
}
