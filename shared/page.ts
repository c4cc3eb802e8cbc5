import * as v from 'valibot'

/** Limits of spec sections 4.2 and 8, and the deepest page of design section 5. */
const DEFAULT_PER_PAGE = 25
const MAX_PER_PAGE = 100
const MAX_PAGE = 1_000_000

export type Page = { readonly page: number; readonly perPage: number }

const clamp = (value: number, lowest: number, highest: number) => Math.min(Math.max(value, lowest), highest)

const integerParam = (name: string, fallback: number, lowest: number, highest: number) =>
  v.pipe(
    v.optional(v.string(), String(fallback)),
    v.regex(/^[+-]?\d+$/, `${name} must be an integer`),
    v.transform((text) => clamp(Number(text), lowest, highest)),
  )

/** `page` and `per_page` of a query string: out of range is clamped, a non-integer refused. */
export const pageParams = {
  page: integerParam('page', 1, 1, MAX_PAGE),
  per_page: integerParam('per_page', DEFAULT_PER_PAGE, 1, MAX_PER_PAGE),
}

const integerField = (fallback: number, lowest: number, highest: number) =>
  v.pipe(
    v.optional(v.pipe(v.number(), v.safeInteger()), fallback),
    v.transform((value) => clamp(value, lowest, highest)),
  )

/** The same two as numbers, for operator payloads. */
export const pageFields = {
  page: integerField(1, 1, MAX_PAGE),
  per_page: integerField(DEFAULT_PER_PAGE, 1, MAX_PER_PAGE),
}

export const pageOf = (params: { readonly page: number; readonly per_page: number }): Page => ({
  page: params.page,
  perPage: params.per_page,
})

export const firstOfPage = ({ page, perPage }: Page): number => (page - 1) * perPage

/** The short pagination object of settlements and operator lists. */
export const pagination = ({ page, perPage }: Page) => ({ page, per_page: perPage })

/** The pagination object of GET /v1/payments (spec 4.2). */
export const paginationWithTotal = (page: Page, total: number) => ({
  ...pagination(page),
  total,
  total_pages: Math.ceil(total / page.perPage),
})
