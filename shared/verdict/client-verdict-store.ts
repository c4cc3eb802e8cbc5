import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { equals, isNew } from '../table/condition.ts'
import { verdictKey } from '../table/keys.ts'
import { guard, put, type Step } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'

const Figure = v.nullable(v.union([v.string(), v.number()]))
const DifferenceSchema = v.object({ what: v.string(), id: v.string(), expected: Figure, found: Figure })

/** A difference that stands on a client, and the part of its books in which it was found. */
const StandingSchema = v.object({ ...DifferenceSchema.entries, part: v.string() })
export type Standing = v.InferOutput<typeof StandingSchema>

const AcceptedSchema = v.object({
  ...DifferenceSchema.entries,
  operator: v.string(),
  notes: v.string(),
  at: TimestampSchema,
})
export type Accepted = v.InferOutput<typeof AcceptedSchema>

/** The result of a client's audits, and the progress of today's. */
export const ClientVerdictSchema = v.object({
  version: v.number(),
  standing: v.array(StandingSchema),
  accepted: v.array(AcceptedSchema),
  /** The last day whose slices were audited, in days since 1970. */
  auditedDay: v.optional(v.number()),
  progress: v.optional(v.object({ day: v.number(), done: v.string() })),
  /** Since when its balance is negative, and when operators were last told. */
  owesSince: v.optional(TimestampSchema),
  owesToldAt: v.optional(TimestampSchema),
})
export type ClientVerdict = v.InferOutput<typeof ClientVerdictSchema>

const NO_VERDICT: ClientVerdict = { version: 0, standing: [], accepted: [] }

/** A client's verdict; empty before its first audit. */
export const readClientVerdict = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<ClientVerdict> => {
  const item = await deps.table.get(verdictKey(clientId))
  return item === undefined ? NO_VERDICT : v.parse(ClientVerdictSchema, item)
}

const isAsRead = ({ version }: ClientVerdict) => (version === 0 ? isNew : equals('version', version))

/** Writes a client's verdict. Refused when it has changed since it was read. */
export const changeClientVerdict = (clientId: ClientId, before: ClientVerdict, after: ClientVerdict): Step =>
  put(verdictKey(clientId), { ...after, version: before.version + 1 }, isAsRead(before))

/** Requires that a client's verdict is unchanged since it was read. */
export const clientVerdictStands = (clientId: ClientId, read: ClientVerdict): Step =>
  guard(verdictKey(clientId), isAsRead(read))
