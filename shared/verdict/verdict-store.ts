import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Alert, Deps, StoreDeps, TableDeps } from '../deps.ts'
import { refused } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import type { Approvable } from '../operator/approval-store.ts'
import type { Item } from '../table/attributes.ts'
import { verdictKey } from '../table/keys.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { guard, isNew, put, type Step, unchanged } from '../table/step.ts'
import { dayNumber, END_OF_TIME, type Timestamp, TimestampSchema, timestampOf } from '../time.ts'
import { unacceptedDifferences, withSince } from './acceptances.ts'
import {
  type Difference,
  DifferenceSchema,
  distinct,
  foremost,
  isIdentical,
  isSame,
  isUnknownName,
  withoutClient,
} from './difference.ts'

/** A greater number is no count of writes. */
const MAX_VERSION = 2 ** 50

/** The result of the audits of a client or of the gateway, and the progress of an audit. */
export const VerdictSchema = v.object({
  /** Absent before the first audit of the gateway. */
  version: v.optional(v.pipe(v.number(), v.maxValue(MAX_VERSION))),
  /** When the audit began that judged all figures last. */
  figuresAt: v.optional(TimestampSchema),
  /** The last day whose share of the history was judged, in days since 1970. */
  historyDay: v.optional(v.number()),
  /** The differences that stand, each with the part of the books in which it was found. */
  standing: v.optional(
    v.array(v.object({ ...DifferenceSchema.entries, part: v.string(), since: TimestampSchema })),
    [],
  ),
  /** Of a day's share of the history: `done` is the last judged part, `part` the next part. */
  progress: v.optional(
    v.object({
      day: v.number(),
      done: v.string(),
      /** An audit on demand may have another next part than the daily audit. */
      part: v.optional(v.string()),
      state: v.optional(v.unknown()),
      found: v.optional(v.array(DifferenceSchema), []),
      /** Only a message with this random id continues the progress. */
      auditId: v.string(),
      /** When the first run of the audit began. */
      beganAt: TimestampSchema,
      /** A run could not write the differences of a client, so the day does not count. */
      isLacking: v.optional(v.boolean()),
    }),
  ),
  /** The digest of the sums of each long settlement that was judged whole for a payout. */
  longSettlements: v.optional(v.record(v.string(), v.string()), {}),
  /** Of the gateway: when its table was restored last. */
  restoredAt: v.optional(TimestampSchema),
  /** Since when the client's balance is negative, and when operators were last told. */
  owesSince: v.optional(TimestampSchema),
  owesToldAt: v.optional(TimestampSchema),
})
export type Verdict = v.InferOutput<typeof VerdictSchema>

/**
 * Empty before the first audit of the gateway, and when a row is lost or unreadable: the next audit
 * writes it anew.
 */
export async function readVerdict(deps: TableDeps, owner: string): Promise<Verdict> {
  return verdictIn(await deps.table.get(verdictKey(owner)))
}

/** The payout gate needs the time of a restore also when the rest of the row is unreadable. */
function verdictIn(item: Item = {}): Verdict {
  const restoredAt = ifValid(TimestampSchema, item['restoredAt'])
  return ifValid(VerdictSchema, item) ?? { ...v.parse(VerdictSchema, {}), restoredAt }
}

/** A new client has no history, so its audit is up to date. */
export function putNewVerdict(clientId: ClientId, createdAt: Timestamp): Step {
  const verdict = { version: 1, figuresAt: createdAt, historyDay: dayNumber(createdAt) }
  return put(verdictKey(clientId), verdict, isNew)
}

export function requireSameVerdict(clientId: ClientId, { version }: Verdict): Step {
  return guard(verdictKey(clientId), unchanged('version', version))
}

/**
 * Sends the message of a client's audit, or of the gateway's. A message that is lost is sent by the
 * daily schedule. `auditId`: of the audit that the next run continues; without it an audit begins.
 */
export function askForAudit(
  { queues }: Pick<Deps, 'queues'>,
  clientId: ClientId | undefined,
  { auditId, delaySeconds = 0 }: { readonly auditId?: string; readonly delaySeconds?: number } = {},
): Promise<void> {
  const owner = clientId === undefined ? { gateway: true } : { client_id: clientId }
  const body = { ...owner, ...(auditId !== undefined && { audit_id: auditId }) }
  return queues.send('audits', { body, delaySeconds, group: clientId ?? GATEWAY_OWNER })
}

type Standing = Verdict['standing'][number]

/** Differences by the part of the books in which they were found. */
export type ByPart = ReadonlyMap<string, readonly Difference[]>

const TRIES = 5

type Changed = Partial<Omit<Verdict, 'version' | 'standing'>>

/** Adds to the standing differences of these parts, until an audit judges the parts again. */
export function addDifferences(deps: StoreDeps, owner: string, found: ByPart) {
  return recordDifferences(deps, owner, found, {}, timestampOf(0))
}

/**
 * Answers the standing differences that are not accepted, and those among them that are new. Throws
 * when the verdict kept changing. What another audit has found since `readFrom` stands.
 */
export async function recordDifferences(
  deps: StoreDeps,
  owner: string,
  byPart: ByPart,
  changed: Changed | ((before: Verdict) => Changed) = {},
  readFrom = END_OF_TIME,
) {
  // Of the first read: after a lost answer the repeat is refused.
  let known: Verdict['standing'] | undefined
  for (let tried = 0; tried < TRIES; tried++) {
    const item = await deps.table.get(verdictKey(owner))
    const before = verdictIn(item)
    const standing = standingAfter(before, byPart, deps.now(), readFrom)
    const unaccepted = await unacceptedDifferences(deps, owner, standing)
    const dropped = new Set(unaccepted).difference(new Set(mostImportant(unaccepted)))
    const isKept = (one: Standing) => !dropped.has(one)
    const others = typeof changed === 'function' ? changed(before) : changed
    // Of two audits at the same time the audit that began last counts.
    const { figuresAt = deps.now() } = others
    const lastAt = before.figuresAt ?? ''
    const isOvertaken = figuresAt < lastAt && lastAt <= deps.now()
    const after = { ...before, standing: standing.filter(isKept), ...(!isOvertaken && others) }
    known ??= before.standing
    const kept = unaccepted.filter(isKept)
    const added = kept.filter((one) => !known?.some((other) => isIdentical(other, one)))
    const step = put(
      verdictKey(owner),
      { ...after, version: Math.max(before.version ?? 0, 0) + 1 },
      unchanged('version', item?.['version']),
    )
    // An unchanged verdict is not written, because a payout may depend on its version.
    if (isDeepStrictEqual(after, before) || (await deps.table.write(step)).applied)
      return { unaccepted: kept, added }
  }
  throw new Error('a verdict kept changing')
}

/** Differences of the judged parts that are gone no longer stand. */
function standingAfter({ standing }: Verdict, byPart: ByPart, now: Timestamp, readFrom: Timestamp) {
  const kept = standing.filter(({ part, since }) => !byPart.has(part) || since > readFrom)
  const added = [...byPart].flatMap(([part, differences]) =>
    withSince(differences.map(withoutClient), standing, now).map((one) => ({ ...one, part })),
  )
  return distinct([...kept, ...added])
}

/** The most differences that one item keeps, besides accepted differences. */
const MAX_KEPT = 100

/** Each part keeps one difference, because only parts with differences are judged daily. */
function mostImportant(unaccepted: readonly Standing[]) {
  const all = foremost(unaccepted, unaccepted.length)
  const firsts = [...Map.groupBy(all, ({ part }) => part).values()].map(([first]) => first)
  return [...new Set([...firsts, ...all])].slice(0, MAX_KEPT)
}

/**
 * Reports standing differences to operators and to the metric of an alarm, each day. The name of an
 * attribute that only a later release knows is reported once.
 */
export async function alertDifferences(
  deps: Pick<Deps, 'alerts' | 'log'>,
  subject: string,
  { unaccepted, added }: Awaited<ReturnType<typeof recordDifferences>>,
): Promise<void> {
  const standing = unaccepted.filter((one) => !isUnknownName(one) || added.includes(one))
  const [first] = standing
  if (first === undefined) return
  deps.log.error('audit.imbalance', { client_id: subject, differences: standing.length })
  const message =
    `The books of ${subject} do not balance (differences: ${standing.length}). The first is ${first.what} of ` +
    `${first.id}. Pay out nothing to a client that is named. audit-ledger lists the differences: with --client_id those of a client, without it those of the gateway.`
  await publishAlert(deps, { kind: 'audit.imbalance', subject, message })
}

/** False: the alert failed. The alarm has the log's metric, and the daily audit repeats it. */
export function publishAlert({ alerts, log }: Pick<Deps, 'alerts' | 'log'>, alert: Alert) {
  return alerts.publish(alert).then(
    () => true,
    (cause: unknown) => {
      log.error('alert.failed', { client_id: alert.subject }, cause)
      return false
    },
  )
}

/**
 * Throws 422 for the approval of a difference that is accepted: it would replace the approval by
 * whose use the acceptance counts.
 */
export async function requireUnaccepted(
  deps: TableDeps,
  { action, payload }: Approvable,
): Promise<void> {
  // In a payload an absent member and null are the same.
  const difference = ifValid(DifferenceSchema, { expected: null, found: null, ...payload })
  if (action !== 'accept-difference' || difference === undefined) return
  const owner = String(payload['client_id'] ?? GATEWAY_OWNER)
  const { standing } = await readVerdict(deps, owner)
  const named = standing.filter((one) => isSame(one, difference))
  if (named.length === 0 || (await unacceptedDifferences(deps, owner, named)).length > 0) return
  throw refused(
    'this difference is accepted already',
    'It needs no further approval: it refuses no payout while its gap stays as it is.',
  )
}
