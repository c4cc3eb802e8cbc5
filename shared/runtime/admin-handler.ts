import * as v from 'valibot'
import type { Deps, Invocation } from '../deps.ts'
import { type Envelope, invalid, toErrorReply } from '../errors.ts'
import { parseInput } from '../field-errors.ts'
import { hiddenCharactersIn, textField } from '../text-field.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

export type AdminReply = { readonly status: number; readonly body: object | Envelope }

/** Who asks for a change: required by every action that makes one, and kept in its audit record. */
export const OPERATOR = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must say who asks for the change'),
  v.maxLength(100, 'at most 100 characters'),
)

/** What an operator writes beside a change: the one text that may have several lines. */
export const NOTES = textField(1_000)

/** What the operators' command line shows of an action, and reads its fields with. */
export type AdminAction<Schema extends v.GenericSchema = v.GenericSchema> = {
  /** Its first sentence is the action's line among all of them. */
  readonly summary: string
  readonly input: Schema
}

export type AdminHandler = InjectableHandler<unknown, AdminReply> & AdminAction

const HINT = 'Correct the fields named in field_errors and try again.'

/** A payload left out is an empty one; any other that is no object is nobody's request (a list has keys too). */
const objectFrom = (event: unknown): object => {
  const payload = event === undefined ? {} : event
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw invalid('the payload must be a JSON object', { body: ['must be an object'] }, 'Send the fields as {"name": …}.')
}

/** What an operator types is shown to others: in alerts, in terminals, in audit records. Only notes may have several lines. */
const withoutHiddenCharacters = (payload: object): void => {
  const fields = Object.fromEntries(Object.entries(payload).filter(([name]) => name !== 'notes'))
  const fieldErrors = hiddenCharactersIn(fields)
  const [first] = Object.entries(fieldErrors)
  if (first) throw invalid(`${first[0]}: ${first[1][0]}`, fieldErrors, HINT)
}

/** Tools that always say who asks may say so to actions that only read, too. */
const withoutIdleOperator = (input: v.GenericSchema, payload: object): object => {
  const takesOperator = 'entries' in input && typeof input.entries === 'object' && 'operator' in (input.entries ?? {})
  if (takesOperator || !('operator' in payload)) return payload
  const { operator: _, ...rest } = payload
  return rest
}

/**
 * Wraps an operator action. The answer is `{status, body}` with the resource or the error envelope: a refusal is an
 * answer, so the Lambda console shows it as one instead of a stack trace. One that changed something says in `audit` who
 * did, when and in which invocation, as the last of its audit records does.
 */
export const adminHandler = <const Schema extends v.GenericSchema>(
  { summary, input }: AdminAction<Schema>,
  run: (input: v.InferOutput<Schema>, deps: Deps) => Promise<object>,
): AdminHandler =>
  Object.assign(
    injectable<unknown, AdminReply>((deps) => async (event, context) => {
      const { awsRequestId: requestId } = context
      const fields = { request_id: requestId, action: context.functionName }
      let audit: object | undefined
      const recorded: Invocation['recorded'] = (record) => {
        audit = { ...record, request_id: requestId }
      }
      try {
        const payload = withoutIdleOperator(input, objectFrom(event))
        const parsed = parseInput(input, payload, HINT)
        withoutHiddenCharacters(payload)
        const body = await run(parsed, { ...deps, invocation: { requestId, recorded } })
        deps.log.info('operator.action', { ...fields, status: 200 })
        return { status: 200, body: audit ? { ...body, audit } : body }
      } catch (error) {
        const { status, body, expected } = toErrorReply(error)
        if (expected) deps.log.info('operator.refused', { ...fields, status, code: body.code })
        else deps.log.error('operator.refused', { ...fields, status, code: body.code }, error)
        return { status, body }
      }
    }),
    { summary, input },
  )
