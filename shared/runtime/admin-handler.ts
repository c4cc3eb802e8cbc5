import type { Request } from '@middy/core'
import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import type { Deps, Invocation } from '../deps.ts'
import { toErrorReply } from '../errors.ts'
import { BookDaySchema } from '../journal/day-totals.ts'
import { type ActionInput, actionRequest, parsePayload } from '../operator/action-payload.ts'
import { withoutEffects } from '../table/without-effects.ts'
import { BANK_REFERENCE, maxCharacters, textField } from '../text-field.ts'
import { type InjectableHandler, injectable, pipeline } from './injectable.ts'

export type AdminReply = { readonly status: number; readonly body: object }

/** The audit record keeps this name. */
export const OPERATOR = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must name who requests the change'),
  maxCharacters(100),
)

/** The only text of an operator that may have several lines. */
export const NOTES = textField(1_000)

/** A settlement, and the reason for what is done to it. */
export const REASONED = v.strictObject({
  operator: OPERATOR,
  settlement_id: v.string(),
  notes: NOTES,
})

/** An endpoint of a client. */
export const ENDPOINT = v.strictObject({
  operator: OPERATOR,
  client_id: v.string(),
  endpoint_id: v.string(),
})

/** The payout of a settlement, as our bank booked it out, or in again. */
export const TRANSFER = v.strictObject({
  operator: OPERATOR,
  settlement_id: v.string(),
  bank_reference: BANK_REFERENCE,
  value_date: v.optional(BookDaySchema),
  notes: v.optional(NOTES),
})

type AdminAction<Schema extends ActionInput = ActionInput> = {
  /** The list of actions shows the summary's first sentence. */
  readonly summary: string
  readonly input: Schema
  /** `dry_run` leaves out every effect, for what moves money. */
  readonly hasDryRun?: boolean
}

export type AdminHandler = InjectableHandler<unknown, AdminReply> & AdminAction

export function adminHandler<const Schema extends ActionInput>(
  { summary, input, hasDryRun = false }: AdminAction<Schema>,
  run: (deps: Deps, request: ActionRequest<v.InferOutput<Schema>>) => Promise<object>,
): AdminHandler {
  return Object.assign(
    injectable<unknown, AdminReply>((deps) =>
      pipeline<unknown, AdminReply>(
        [actionLine(deps), envelope(), parsedPayload(input, hasDryRun), auditRecord()],
        async ({ parsed, invocation, isDry }: Action<v.InferOutput<Schema>>) =>
          isDry
            ? answerDry(deps, invocation, (dryDeps) => run(dryDeps, actionRequest(parsed)))
            : run({ ...deps, invocation }, actionRequest(parsed)),
      ),
    ),
    { summary, input, hasDryRun },
  )
}

type Action<Parsed = unknown> = {
  readonly parsed: Parsed
  readonly isDry: boolean
  readonly invocation: Invocation
}

/** A dry run has no audit record. */
async function answerDry(
  deps: Deps,
  { requestId }: Invocation,
  run: (deps: Deps) => Promise<object>,
) {
  const invocation = { requestId, recorded: () => undefined }
  return { dry_run: true, ...(await run(withoutEffects({ ...deps, invocation }))) }
}

function actionLine({ log }: Deps) {
  const fieldsOf = ({ context, event }: Request) => ({
    request_id: context.awsRequestId,
    action: context.functionName,
    // A line of an action that changed nothing must not be taken for a change.
    ...(Object(event).isDry === true && { dry_run: true }),
  })
  return {
    after: (action: Request) => {
      log.info('operator.action', { ...fieldsOf(action), status: 200 })
    },
    onError: (action: Request) => {
      const { status, body, expected } = toErrorReply(action.error)
      const fields = { ...fieldsOf(action), status, code: body.code }
      if (expected) log.info('operator.refused', fields)
      else log.error('operator.refused', fields, action.error)
    },
  }
}

function envelope() {
  return {
    after: (action: Request) => {
      action.response = { status: 200, body: action.response }
    },
    onError: (action: Request) => {
      const { status, body } = toErrorReply(action.error)
      action.response = { status, body }
    },
  }
}

function parsedPayload(input: ActionInput, hasDryRun: boolean) {
  return {
    before: (action: Request) => {
      action.event = parsePayload(input, action.event, hasDryRun)
    },
  }
}

function auditRecord() {
  return {
    before: ({ event, context, internal }: Request<Action>) => {
      const requestId = context.awsRequestId
      const recorded: Invocation['recorded'] = (record) => {
        Object.assign(internal, { audit: { ...record, request_id: requestId } })
      }
      Object.assign(event, { invocation: { requestId, recorded } })
    },
    after: (action: Request) => {
      action.response = { ...action.response, ...action.internal }
    },
  }
}
