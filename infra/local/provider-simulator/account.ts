import * as v from 'valibot'
import { ProviderError, parseInput } from './provider-error.ts'
import type { AccountRecord } from './simulator-store.ts'
import type { World } from './world.ts'

/** What a key may do, by product, as in the provider's dashboard. */
const PERMISSIONS = ['money_in', 'transactions', 'money_out'] as const
export type Permission = (typeof PERMISSIONS)[number]

const AccountOrder = v.strictObject({
  /** Null: every call is admitted. */
  calls_per_minute: v.optional(
    v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000_000))),
  ),
  permissions: v.optional(v.array(v.picklist(PERMISSIONS))),
})

/** A setting that the order does not name stays. */
export function setAccount(world: World, input: unknown): AccountRecord {
  const { calls_per_minute: limit, permissions } = parseInput(AccountOrder, input)
  const account = accountOf(world)
  const changed = {
    ...account,
    ...(limit !== undefined && { callsPerMinute: limit }),
    ...(permissions !== undefined && { permissions }),
  }
  world.store.account.put(changed)
  return changed
}

export function accountOf(world: World) {
  return (
    world.store.account.get('account') ?? {
      id: 'account',
      callsPerMinute: null,
      permissions: PERMISSIONS,
    }
  )
}

/** The provider's limit of a live account, for one endpoint. */
const USUAL_CALLS = 600
const WINDOW_MS = 60_000

export type RateLimit = {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/**
 * Against the limit of the last 60 seconds. A call that is not admitted takes no effect and is not
 * counted.
 */
export function admitCall(
  world: World,
  endpoint: string,
): RateLimit & { readonly isAdmitted: boolean } {
  const { callsPerMinute: limit } = accountOf(world)
  const usual = { limit: USUAL_CALLS, remaining: USUAL_CALLS - 1, resetSeconds: WINDOW_MS / 1_000 }
  if (limit === null) return { ...usual, isAdmitted: true }
  const nowMs = world.nowMs()
  const times = (world.callTimes.get(endpoint) ?? []).filter((ms) => ms > nowMs - WINDOW_MS)
  const isAdmitted = times.length < limit
  if (isAdmitted) times.push(nowMs)
  world.callTimes.set(endpoint, times)
  const resetSeconds = ((times[0] ?? nowMs) + WINDOW_MS - nowMs) / 1_000
  return { limit, remaining: limit - times.length, resetSeconds, isAdmitted }
}

/** Throws `REQUEST_FORBIDDEN_ERROR` for a key without the permission. */
export function requirePermission(world: World, permission: Permission) {
  if (accountOf(world).permissions.includes(permission)) return
  throw new ProviderError(
    'REQUEST_FORBIDDEN_ERROR',
    'API key in the request does not have the permission for this action',
  )
}
