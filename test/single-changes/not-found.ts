import { roleOf } from './registry.ts'
import type { Outcome } from './sweep.ts'

/** What no audit finds, besides facts and attributes that change within a rule. */
export const NOT_FOUND: Readonly<Record<string, string>> = {
  'payment.ended_at': 'a cancelled payment has no event that repeats it',
  'event.endpoint_ids': 'an event without endpoints is usual; deliveries are found by events',
  'house_entry.posted_at': 'the total of its day repeats the day alone',
  'attempt.number': 'diagnostics; the delivery counts its attempts',
  'attempt.ttl': 'diagnostics',
  'sync_head.provider': 'the sync writes it at each round',
  'suspense.resolution': 'a refund by the provider resolves an item without a record',
  'attempt lost': 'diagnostics',
  'sync_head lost': 'the sync begins a week ago again',
  'approval added': 'no record names it; the record of an action that uses it does',
  'verdict lost': 'the audit writes it again, with all that it finds',
  ...Object.fromEntries(
    ['audit_head', 'attempt', 'bank_reference', 'delivery', 'noted', 'pointer', 'suspense'].map(
      (kind) => [`${kind} added`, 'nothing names it, and nothing reads it'],
    ),
  ),
  ...Object.fromEntries(
    ['shard', 'window', 'sync_head', 'audit_record', 'verdict'].map((kind) => [
      `${kind} added`,
      'a row of a client that does not exist',
    ]),
  ),
}

/** Whether the audits must name this change, and did not. */
export function isUnexpected({ kind, attribute = '', what, outcome }: Outcome): boolean {
  if (outcome === 'thrown') return true
  if (outcome === 'named' || outcome === 'found') return false
  const role = roleOf(kind, attribute)
  if (role === 'fact' || role === 'changing') return false
  return attribute === ''
    ? !(`${kind} ${what}` in NOT_FOUND)
    : !(`${kind}.${attribute}` in NOT_FOUND)
}
