import { tokenOfAnotherRequest, validationError } from './table-errors.ts'

/** The tokens of applied transactions: the same request again is answered, and not applied again. */
export type RequestTokens = {
  /** True when this request was applied already. Throws when the token was another request's. */
  readonly wasApplied: (token: string, request: unknown) => boolean
  readonly applied: (token: string, request: unknown) => void
}

const MAX_LENGTH = 36
const VALID_MS = 10 * 60_000

export const requestTokens = (nowMs: () => number): RequestTokens => {
  const known = new Map<string, { readonly request: string; readonly untilMs: number }>()
  return {
    wasApplied: (token, request) => {
      if (token.length > MAX_LENGTH) throw validationError('A request token has at most 36 characters')
      const first = known.get(token)
      if (!first || first.untilMs <= nowMs()) return false
      if (first.request !== textOf(request)) throw tokenOfAnotherRequest()
      return true
    },
    applied: (token, request) => void known.set(token, { request: textOf(request), untilMs: nowMs() + VALID_MS }),
  }
}

/** One text for what is one request to DynamoDB: without undefined values, maps in any order. */
const textOf = (request: unknown): string => JSON.stringify(request, (_, value: unknown) => canonical(value))

const canonical = (value: unknown): unknown => {
  if (value instanceof Set) return { set: [...value] }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
