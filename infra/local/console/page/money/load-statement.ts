import * as v from 'valibot'
import { api, invoke, type Loaded, withClientId } from '../gateway.ts'
import { readAllPages } from '../read-pages.ts'

const Line = v.object({
  at: v.string(),
  type: v.string(),
  payment_id: v.optional(v.string()),
  settlement_id: v.optional(v.string()),
  external_reference: v.optional(v.string()),
  amount_minor: v.number(),
})

const PageSchema = v.object({
  from: v.string(),
  to: v.string(),
  opening_minor: v.number(),
  lines: v.array(Line),
  closing_minor: v.nullable(v.number()),
  final_until: v.string(),
  next: v.nullable(v.string()),
})

const CsvSchema = v.object({ csv: v.string(), cursor: v.optional(v.string()) })

export type Days = { readonly from: string; readonly to: string }

export type StatementLine = v.InferOutput<typeof Line> & { readonly balanceMinor: number }

export type Statement = Days & {
  readonly openingMinor: number
  readonly lines: readonly StatementLine[]
  /** Null if the statement has more lines than the page reads. */
  readonly closingMinor: number | null
  /** Lines before this time never change. */
  readonly finalUntil: string
}

/** A browser prints more than 10,000 lines with trouble. */
const PER_PAGE = 1_000
const MOST_PAGES = 10

export async function loadStatement(days: Days): Promise<Loaded<Statement>> {
  const read = await readAllPages({
    schema: PageSchema,
    most: MOST_PAGES,
    callOf: (_page, last) => statementCall(days, last?.next ?? undefined),
    hasNext: ({ next }) => next !== null,
  })
  if (!('value' in read)) return read
  const { pages, isWhole } = read.value
  const [first, last] = [pages[0], pages.at(-1)]
  if (!first || !last) return { error: 'The statement has no page.', isTemporary: true }
  let balanceMinor = first.opening_minor
  const lines = pages
    .flatMap((page) => page.lines)
    .map((line) => {
      balanceMinor += line.amount_minor
      return { ...line, balanceMinor }
    })
  return {
    value: {
      from: first.from,
      to: first.to,
      openingMinor: first.opening_minor,
      lines,
      closingMinor: isWhole ? last.closing_minor : null,
      finalUntil: last.final_until,
    },
  }
}

export function statementCall(days: Days, after?: string) {
  const query = new URLSearchParams({
    ...days,
    limit: String(PER_PAGE),
    ...(after !== undefined && { after }),
  })
  return api(`statement?${query.toString()}`)
}

export async function loadStatementCsv(days: Days): Promise<Loaded<string>> {
  const read = await readAllPages({
    schema: CsvSchema,
    most: MOST_PAGES,
    callOf: (_page, last) =>
      invoke(
        'get-statement',
        withClientId({
          ...days,
          format: 'csv',
          ...(last?.cursor !== undefined && { cursor: last.cursor }),
        }),
      ),
    hasNext: ({ cursor }) => cursor !== undefined,
  })
  if (!('value' in read)) return read
  if (!read.value.isWhole)
    return { error: 'The statement is too long. Choose fewer days.', isTemporary: false }
  return { value: read.value.pages.map(({ csv }) => csv).join('') }
}
