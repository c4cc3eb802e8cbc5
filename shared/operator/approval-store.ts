import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../deps.ts'
import { conflict, invalid } from '../errors.ts'
import { ClientIdSchema, sha256Hex } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { approvalKey, idOf, rowKeysOf } from '../table/keys.ts'
import { queryAll } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { above, absent, all, equals, put, type Step, unchanged, update } from '../table/step.ts'
import { BANK_REFERENCE } from '../text-field.ts'
import { addMs, DAY_MS, END_OF_TIME, later, type Timestamp, TimestampSchema } from '../time.ts'
import { AUDIT_RECORD_ENTITY } from './audit-record-store.ts'

/** They raise what leaves the house, or say that it did not leave (design section 11). */
export const APPROVED_ACTIONS = [
  'adjust-ledger',
  'recredit-settlement',
  'return-payout',
  'refund-payment',
  'resolve-suspense',
  'adjust-house',
  'accept-difference',
  'mark-settlement-paid',
  'payout-file',
] as const
type ApprovedAction = (typeof APPROVED_ACTIONS)[number]

const NUMBER = v.pipe(v.number(), v.safeInteger())
const TEXT = v.string()
/** The actions ask without zeros. */
const OPTIONAL_NUMBER = v.nullish(
  v.pipe(
    NUMBER,
    v.transform((amount) => amount || null),
  ),
)
const OPTIONAL_TEXT = v.nullish(TEXT)
const SETTLEMENT = { settlement_id: TEXT }
const VALUE = v.nullish(v.union([TEXT, NUMBER]))

/** An approval of other figures would never match. */
export const APPROVED_FIGURES: Readonly<Record<ApprovedAction, v.ObjectEntries>> = {
  'adjust-ledger': {
    client_id: TEXT,
    kind: TEXT,
    amount_minor: NUMBER,
    reference: TEXT,
    provider_transaction_id: OPTIONAL_TEXT,
  },
  'recredit-settlement': SETTLEMENT,
  // A recount asks for the settlement alone.
  'return-payout': {
    ...SETTLEMENT,
    bank_reference: v.nullish(BANK_REFERENCE),
    value_date: OPTIONAL_TEXT,
  },
  'refund-payment': {
    payment_id: TEXT,
    amount_minor: NUMBER,
    bank_reference: v.nullish(BANK_REFERENCE),
    provider_transaction_id: OPTIONAL_TEXT,
  },
  'resolve-suspense': { suspense_id: TEXT, resolution: TEXT },
  'adjust-house': {
    bank_minor: NUMBER,
    transit_minor: OPTIONAL_NUMBER,
    cost_minor: OPTIONAL_NUMBER,
    other_minor: OPTIONAL_NUMBER,
    reference: TEXT,
  },
  'accept-difference': {
    client_id: OPTIONAL_TEXT,
    what: TEXT,
    id: TEXT,
    expected: VALUE,
    found: VALUE,
  },
  'mark-settlement-paid': {
    ...SETTLEMENT,
    unproven: OPTIONAL_NUMBER,
    new_bank: OPTIONAL_TEXT,
    owed: OPTIONAL_NUMBER,
    findings: OPTIONAL_NUMBER,
  },
  'payout-file': { cancel: NUMBER },
}

export type ApprovedFigures = Readonly<Record<string, string | number | null>>
/** `v.record` would pass over a figure that is named `constructor`. */
export const FiguresSchema = v.custom<ApprovedFigures>(
  (given) => given === Object(given) && v.is(v.array(VALUE), Object.values(Object(given))),
  'must hold texts and whole numbers',
)

/** An action with the figures that its approval names. */
export type Approvable = { readonly action: ApprovedAction; readonly payload: ApprovedFigures }

export const ApprovalSchema = v.object({
  action: v.picklist(APPROVED_ACTIONS),
  payload: FiguresSchema,
  operator: v.string(),
  at: TimestampSchema,
  until: TimestampSchema,
  usedAt: v.optional(TimestampSchema),
})
export type Approval = v.InferOutput<typeof ApprovalSchema>

/** After this time a person must check again. */
const APPROVED_FOR_MS = 3 * DAY_MS

/** The SHA-256 of the action and its subject: of its whole figures, or of the settlement. */
export function approvalIdOf({ action, payload }: Approvable): string {
  const { settlement_id: settlementId } = payload
  const subject = isOfSettlement(action) ? settlementId : membersByName(payload)
  return sha256Hex(JSON.stringify([action, subject]))
}

/** Whether the settlement alone is the subject: a later approval replaces the earlier one. */
function isOfSettlement(action: ApprovedAction) {
  return action === 'recredit-settlement' || action === 'mark-settlement-paid'
}

/** An absent member and null are the same. */
function membersByName(payload: ApprovedFigures) {
  return Object.entries(payload)
    .filter(([, value]) => value !== null)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

const APPROVAL_SUBJECT = 'approval:'

export function approvalSubject(approvalId: string): string {
  return `${APPROVAL_SUBJECT}${approvalId}`
}

/** In whose list its records are: of no client, in the list of the gateway. */
export function approvalOwner({ client_id: clientId }: ApprovedFigures): string {
  return ifValid(ClientIdSchema, clientId) ?? GATEWAY_OWNER
}

export function approvalIdIn(subject: string): string | undefined {
  return subject.startsWith(APPROVAL_SUBJECT) ? subject.slice(APPROVAL_SUBJECT.length) : undefined
}

/** Replaces the subject's earlier approval. Refused when it was used or replaced after the read. */
export function putApproval(approval: Approval, earlier: StoredApproval | undefined): Step {
  const isAsRead = all(unchanged('at', earlier?.at), unchanged('usedAt', earlier?.usedAt))
  return put(approvalKey(approvalIdOf(approval)), approval, isAsRead)
}

/** The times as the row has them: a new approval also replaces an unreadable row. */
type StoredApproval = { readonly at?: unknown; readonly usedAt?: unknown }

export async function findStoredApproval(
  deps: TableDeps,
  approvable: Approvable,
): Promise<StoredApproval | undefined> {
  return deps.table.get(approvalKey(approvalIdOf(approvable)))
}

/**
 * Whether a second person approved an action that was taken at that time, or approves it since.
 * Only `approve` writes such rows.
 */
export async function wasApproved(
  deps: TableDeps,
  { action, payload }: Approvable,
  at: Timestamp,
): Promise<boolean> {
  const listed = await queryAll(deps, {
    index: 'by-owner',
    partition: [approvalOwner(payload), AUDIT_RECORD_ENTITY],
    range: { between: [addMs(at, -APPROVED_FOR_MS), END_OF_TIME] },
    limit: 500,
  })
  for (const { pk } of rowKeysOf('AUDIT', listed)) {
    const id = approvalIdIn(idOf(pk))
    const approval = id && ifValid(ApprovalSchema, await deps.table.get(approvalKey(id)))
    if (!approval || approval.action !== action) continue
    const { payload: said } = approval
    if (Object.entries(payload).every(([name, value]) => (said[name] ?? null) === value))
      return true
  }
  return false
}

export type UsedApproval = {
  /** Refused if the approval was used or replaced after the read, or has expired. */
  readonly step: Step
  /** For the action's own record, from which the audit derives the use. */
  readonly shown: {
    readonly id: string
    readonly operator: string
    readonly at: Timestamp
    readonly used_at: Timestamp
  }
}

/** Reads the approval of an action, and answers the step that uses it up, as `useOf` does. */
export async function requireApproval(
  deps: StoreDeps,
  approvable: Approvable,
): Promise<UsedApproval> {
  return useOf(deps, await findValidApproval(deps, approvable))
}

/**
 * Uses up nothing. Throws 422 with the approver's command unless an approval of the action `covers`
 * it. An approval of other figures has another key, unless it is of a payout.
 */
export async function findValidApproval(
  deps: StoreDeps,
  approvable: Approvable,
  covers: (figures: ApprovedFigures) => boolean = () => true,
): Promise<Approval> {
  // A row that cannot be read approves nothing.
  const approval = ifValid(ApprovalSchema, await findStoredApproval(deps, approvable))
  const problem = approval ? problemOf(approval, deps.now(), covers) : 'there is none'
  if (!approval || problem) throw approvalError(approvable, problem)
  return approval
}

/** The step uses the approval up in the action's own transaction. */
export function useOf(deps: Pick<StoreDeps, 'now'>, approval: Approval): UsedApproval {
  const { operator, at } = approval
  const now = deps.now()
  const id = approvalIdOf(approval)
  // The approver's clock may be ahead of this clock.
  const usedAt = later(now, at)
  const isAsRead = all(equals('at', at), absent('usedAt'), above('until', now))
  return {
    step: update(approvalKey(id), { set: { usedAt } }, isAsRead),
    shown: { id, operator, at, used_at: usedAt },
  }
}

function problemOf(
  approval: Approval,
  now: Timestamp,
  covers: (figures: ApprovedFigures) => boolean,
) {
  if (approval.usedAt !== undefined) return `the last one was used at ${approval.usedAt}`
  if (approval.until <= now) return `the last one expired at ${approval.until}`
  return covers(approval.payload) ? undefined : 'the last one names other figures'
}

function approvalError(approvable: Approvable, problem = '') {
  // The operator has named the settlement.
  const { settlement_id: _, ...confirm } = approvable.payload
  return invalid(
    `${approvable.action} needs an approval of exactly these figures: ${problem}`,
    undefined,
    approvalHint(approvable),
    approvable.action === 'mark-settlement-paid' ? { confirm } : {},
  )
}

/** After the read another call used the approval, or its approver replaced it. */
export function approvalWasChanged() {
  return conflict('the approval was used or replaced at the same time; try again')
}

/** `'` is spelled by its number, so that the command can be copied into a shell. */
export function approvalHint({ action, payload }: Approvable): string {
  const json = JSON.stringify(Object.fromEntries(membersByName(payload)))
  return (
    'A person with the duty approve checks the figures and runs: approve --action ' +
    `${action} --payload '${json.replaceAll("'", String.raw`\u0027`)}'. It holds for 72 hours ` +
    'and one use. Then repeat the same call.'
  )
}

export function newApproval(
  { action, payload }: Approvable,
  operator: string,
  at: Timestamp,
): Approval {
  return {
    action,
    payload: Object.fromEntries(membersByName(payload)),
    operator,
    at,
    until: addMs(at, APPROVED_FOR_MS),
  }
}
