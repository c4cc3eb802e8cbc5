import * as v from 'valibot'
import { type FieldErrors, type GatewayError, invalid } from '../../errors.ts'
import { describeIssue } from '../../field-errors.ts'
import type { PaymentRequest } from '../payment.ts'
import { checkPaymentRules, PaymentBodySchema, type RuleError, type RuleFacts, readMetadata } from './payment-body.ts'

export type ParsedRequest =
  | { readonly ok: true; readonly request: PaymentRequest }
  | { readonly ok: false; readonly error: GatewayError }

const MAX_FIELDS = 20
const MAX_FIELD_NAME = 100

const refuse = (message: string, errors?: readonly RuleError[]): ParsedRequest => ({
  ok: false,
  error: invalid(message, errors && fieldErrors(errors)),
})

const fieldErrors = (errors: readonly RuleError[]): FieldErrors =>
  Object.fromEntries(
    Map.groupBy(errors, ({ field }) => field)
      .entries()
      .map(([field, found]) => [field, found.map(({ message }) => message)]),
  )

/** Refuses a body that is no JSON object. */
export const refuseJson = (reason: string, errors?: readonly RuleError[]): ParsedRequest =>
  refuse(`invalid JSON body: ${reason}`, errors)

/** Refuses a body whose values break rules. The first error is the message. */
export const refuseRules = (broken: readonly RuleError[]): ParsedRequest => refuse(broken[0]?.message ?? '', broken)

type Misshapen = {
  readonly unknown: readonly string[]
  readonly issues: readonly v.BaseIssue<unknown>[]
  readonly body: Readonly<Record<string, unknown>>
  readonly text: string
  readonly facts: RuleFacts
}

/** Refuses a body with unknown fields or wrong types. Rule errors of its other fields are told too. */
export const refuseShape = ({ unknown, issues, ...read }: Misshapen): ParsedRequest => {
  const misshapen = [
    ...unknown.map((field) => ({ field: shown(field), message: 'unknown field' })),
    ...issues.map((issue) => ({ field: v.getDotPath(issue) ?? 'body', message: describeIssue(issue) })),
  ].slice(0, MAX_FIELDS)
  const [first] = misshapen
  return refuseJson(`${first?.field}: ${first?.message}`, [...misshapen, ...brokenBeside(misshapen, read)])
}

/** Errors of a field whose name cannot be shown are filed under `body`. */
const shown = (field: string) => (field.isWellFormed() && field.length <= MAX_FIELD_NAME ? field : 'body')

/** Rule errors of the other fields. A field with a wrong type gets no second error. */
const brokenBeside = (
  misshapen: readonly RuleError[],
  { body, text, facts }: Omit<Misshapen, 'unknown' | 'issues'>,
): readonly RuleError[] => {
  const topOf = (field: string) => field.split('.')[0] ?? field
  const unread = new Set(misshapen.map(({ field }) => topOf(field)))
  const readable = Object.entries(body).filter(([field]) => !unread.has(field))
  const shape = v.safeParse(PaymentBodySchema, Object.fromEntries(readable))
  if (!shape.success) return []
  const broken = checkPaymentRules(shape.output, readMetadata(shape.output.metadata, text), facts)
  return broken.filter(({ field }) => !unread.has(topOf(field)))
}
