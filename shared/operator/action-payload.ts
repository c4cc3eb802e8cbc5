import * as v from 'valibot'
import type { ActionRequest, Ids } from '../action-request.ts'
import { invalid } from '../errors.ts'
import { errorsByField, optionalField, parseId, parseInput } from '../field-errors.ts'
import { ClientIdSchema, EndpointIdSchema } from '../ids.ts'
import { fieldName } from '../table/attributes.ts'
import { hiddenCharactersIn } from '../text-field.ts'

export type ActionInput = v.GenericSchema & { readonly entries: v.ObjectEntries }

const HINT = 'Correct the fields named in field_errors and try again.'

/**
 * The payload of an operator's action, as it was sent and as its schema reads it. `dry_run` is no
 * field of the schema.
 */
export function parsePayload(input: ActionInput, event: unknown, hasDryRun: boolean) {
  const sent = objectFrom(event)
  const { dry_run: _, ...fields } = Object(sent)
  const isDry = hasDryRun && parseInput(DryRun, sent, HINT).dry_run === true
  const payload = presentFields(input, hasDryRun ? fields : sent)
  const parsed = parseInput(input, payload, HINT)
  refuseHiddenCharacters(payload)
  return { payload, parsed, isDry }
}

const DryRun = v.object({ dry_run: optionalField(v.boolean()) })

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

function objectFrom(payload: unknown): object {
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw invalid(
    'the payload must be a JSON object',
    { body: ['must be an object'] },
    'Send the fields as {"name": …}.',
  )
}

/**
 * Alerts and terminals show the text. Only notes may have line breaks. A line of the bank's answer
 * is refused alone.
 */
function refuseHiddenCharacters(payload: object) {
  const { notes: _notes, lines: _lines, ...fields } = Object(payload)
  const errors = hiddenCharactersIn(fields)
  const [first] = errors
  if (first) throw invalid(`${first.field}: ${first.message}`, errorsByField(errors), HINT)
}

const IDS: Readonly<Record<string, v.GenericSchema>> = {
  client_id: ClientIdSchema,
  endpoint_id: EndpointIdSchema,
} satisfies Record<keyof Ids, v.GenericSchema>

/** A malformed id is unknown. */
export function actionRequest<Fields>(fields: Fields): ActionRequest<Fields> {
  return Object.assign(
    {},
    ...Object.entries(fields ?? {}).map(([name, value]) => {
      const id = IDS[name]
      const isId = id && typeof value === 'string'
      return { [fieldName(name)]: isId ? parseId(id, value, name.replace('_id', '')) : value }
    }),
  )
}
