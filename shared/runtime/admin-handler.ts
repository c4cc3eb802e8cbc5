import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import type { Deps, Invocation } from '../deps.ts'
import { type Envelope, invalid, toErrorReply } from '../errors.ts'
import { parseId, parseInput } from '../field-errors.ts'
import { ClientIdSchema } from '../ids.ts'
import { fieldName } from '../table/attributes.ts'
import { hiddenCharactersIn, maxCharacters, textField } from '../text-field.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

export type AdminReply = { readonly status: number; readonly body: object | Envelope }

/**
 * Who requests a change. Every changing action requires this name, and the audit record keeps it.
 */
export const OPERATOR = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must name who requests the change'),
  maxCharacters(100),
)

/** An operator's notes on a change: the only text that may have several lines. */
export const NOTES = textField(1_000)

type ActionInput = v.GenericSchema & { readonly entries: v.ObjectEntries }

/** The summary and the schema that the operators' command line uses. */
export type AdminAction<Schema extends ActionInput = ActionInput> = {
  /** The list of actions shows the summary's first sentence. */
  readonly summary: string
  readonly input: Schema
}

export type AdminHandler = InjectableHandler<unknown, AdminReply> & AdminAction

const HINT = 'Correct the fields named in field_errors and try again.'

/**
 * Wraps an operator action. A refusal is answered without a stack trace. `audit`: the last audit
 * record.
 */
export function adminHandler<const Schema extends ActionInput>(
  { summary, input }: AdminAction<Schema>,
  run: (request: ActionRequest<v.InferOutput<Schema>>, deps: Deps) => Promise<object>,
): AdminHandler {
  return Object.assign(
    injectable<unknown, AdminReply>((deps) => async (event, context) => {
      const { awsRequestId: requestId } = context
      const fields = { request_id: requestId, action: context.functionName }
      let audit: object | undefined
      const recorded: Invocation['recorded'] = (record) => {
        audit = { ...record, request_id: requestId }
      }
      try {
        const payload = presentFields(input, objectFrom(event))
        const parsed = parseInput(input, payload, HINT)
        refuseHiddenCharacters(payload)
        const body = await run(requestOf(parsed), { ...deps, invocation: { requestId, recorded } })
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
}

/**
 * Null for an optional field counts as absent. A reading action ignores `operator`, because some
 * tools always send it.
 */
function presentFields({ entries }: ActionInput, payload: object): object {
  return Object.fromEntries(
    Object.entries(payload).filter(([name, value]) => {
      const field = Object.hasOwn(entries, name) ? entries[name] : undefined
      if (field === undefined) return name !== 'operator'
      return value !== null || v.is(field, null)
    }),
  )
}

/** A missing payload counts as empty; any other value that is no object is refused. */
function objectFrom(event: unknown): object {
  const payload = event === undefined ? {} : event
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw invalid(
    'the payload must be a JSON object',
    { body: ['must be an object'] },
    'Send the fields as {"name": …}.',
  )
}

/**
 * Refuses hidden characters, because alerts and terminals show the text. Only notes may have line
 * breaks.
 */
function refuseHiddenCharacters(payload: object): void {
  const fields = Object.fromEntries(Object.entries(payload).filter(([name]) => name !== 'notes'))
  const fieldErrors = hiddenCharactersIn(fields)
  const [first] = Object.entries(fieldErrors)
  if (first) throw invalid(`${first[0]}: ${first[1][0]}`, fieldErrors, HINT)
}

function requestOf<Fields>(fields: Fields): ActionRequest<Fields> {
  return Object.assign(
    {},
    ...Object.entries(fields ?? {}).map(([name, value]) => ({
      [fieldName(name)]:
        name === 'client_id' && typeof value === 'string'
          ? parseId(ClientIdSchema, value, 'client')
          : value,
    })),
  )
}
