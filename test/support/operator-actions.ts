import type { Context } from 'aws-lambda'
import type { Client } from '../../shared/client/client.ts'
import type { Deps } from '../../shared/deps.ts'
import { approve } from '../../shared/operator/approve.ts'
import type { AdminHandler, AdminReply } from '../../shared/runtime/admin-handler.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { auditRecordPk } from '../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../shared/time.ts'
import { aStoredClient } from './payment-builders.ts'
import { BANK } from './settlement-builders.ts'
import { type Overrides, type TestDeps, testDeps } from './test-deps.ts'
import { APPROVER, askedApproval } from './with-approval.ts'

export const OPERATOR = 'sari@gateway.example'

export function lambdaContext(functionName: string, remainingMs = 60_000) {
  return {
    awsRequestId: crypto.randomUUID(),
    functionName,
    getRemainingTimeInMillis: () => remainingMs,
  } as Context
}

export type Worker<Answer = unknown> = {
  readonly withDeps: (deps: Deps) => (event: never, context: never) => Promise<Answer>
}

/** A worker gets one batch of messages: `message-0`, `message-1` and so on. */
export function handOver<Answer>(
  worker: Worker<Answer>,
  deps: Deps,
  bodies: readonly unknown[],
  functionName = 'worker',
) {
  const Records = bodies.map((body, at) => ({
    messageId: `message-${at}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }))
  return worker.withDeps(deps)({ Records } as never, { functionName } as never)
}

/** The handler of an action, by the name that an operator types. */
export async function handlerOf(action: string) {
  const module: unknown = await import(`../../functions/admin/${action}.ts`)
  return (module as { readonly handler: AdminHandler }).handler
}

/** Returns the audit record apart from the body. */
export async function invokeWhole(action: string, deps: Deps, payload: unknown) {
  const handler = await handlerOf(action)
  const { status, body } = await handler.withDeps(deps)(payload, lambdaContext('action'))
  const { audit, ...rest } = { audit: undefined, ...body }
  return { status, body: rest, audit: audit as unknown }
}

/** A second person gives the approval that the action asks for. */
export async function invokeAdmin(
  action: string,
  deps: Deps,
  payload: unknown,
): Promise<AdminReply> {
  const { status, body } = await invokeWhole(action, deps, payload)
  const asked = askedApproval(Object(body).action_hint)
  if (asked === undefined) return { status, body }
  await approve(deps, { ...asked, operator: APPROVER })
  const approved = await invokeWhole(action, deps, payload)
  return { status: approved.status, body: approved.body }
}

export async function listedSuspenseIds(deps: Deps, filter: object) {
  const { body } = await invokeAdmin('list-suspense', deps, filter)
  const { data } = body as { readonly data: readonly { readonly suspense_id: string }[] }
  return data.map((item) => item.suspense_id)
}

export async function withClient(overrides: Overrides = {}, fields: Partial<Client> = {}) {
  const deps = testDeps(overrides)
  const client = await aStoredClient(deps, fields)
  const act = (action: string, input: object = {}, own: TestDeps = deps) =>
    invokeAdmin(action, own, { operator: 'ana', client_id: client.clientId, ...input })
  return {
    deps,
    client,
    clientId: client.clientId,
    act,
    trail: () => auditRecordsOf(deps, client.clientId),
  }
}

export const TYPED_BANK = {
  bank_name: 'BCA',
  bank_account_no: '0123456789',
  bank_account_name: 'PT Warung Kopi',
}

/** The oldest record comes first. */
export async function auditRecordsOf(deps: TestDeps, subject: string) {
  const { items } = await deps.table.query({ partition: [auditRecordPk(subject)], limit: 50 })
  return items.map(({ operator, action, before, after }) => ({ operator, action, before, after }))
}

export function shownSettlement(
  settlement: Settlement,
  fields: Readonly<Record<string, unknown>> = {},
) {
  return {
    id: settlement.settlementId,
    client_id: settlement.clientId,
    period_start: addMs(settlement.sweptFrom, -DAY_MS),
    period_end: addMs(settlement.sweptUntil, -DAY_MS),
    gross_minor: 100_000,
    xendit_fees_minor: 4_000,
    hexolus_markup_minor: 100,
    net_minor: 95_900,
    currency: 'IDR',
    payment_count: 1,
    status: 'recorded',
    triggered_by: 'auto',
    bank_name: BANK.bankName,
    bank_account_no: BANK.bankAccountNo,
    bank_account_name: BANK.bankAccountName,
    notes: null,
    settled_at: null,
    created_at: settlement.createdAt,
    recredited_at: null,
    returned_at: null,
    unproven_minor: 0,
    entry_count: 1,
    batch: null,
    bank_reference: null,
    bank_since: BANK.since,
    warning: null,
    ...fields,
  }
}

export function refusedWith(message: string, fields: Readonly<Record<string, unknown>> = {}) {
  return { status: 422, body: { message, code: 'validation', ...fields } }
}
