import { roleOf } from './registry.ts'
import type { Outcome } from './sweep.ts'

/** What no audit finds, besides facts and attributes that change within a rule. */
const NOT_FOUND: Readonly<Record<string, string>> = {
  'payment.ended_at': 'a cancelled payment has no event that repeats it',
  'event.endpoint_ids': 'an event without endpoints is usual; deliveries are found by events',
  'event.body.data.held.at': 'after a restore the event keeps the time of the lost item',
  'house_entry.posted_at': 'the total of its day repeats the day alone',
  'attempt.ttl': 'the table deletes the row when its time is past',
  'suspense.answer_by': 'of the finding of a chargeback: its alert shows it, and nothing reads it',
  'suspense.resolution': 'a refund by the provider resolves an item without a record',
  'attempt lost': 'diagnostics',
  'sync_head lost': 'the sync begins a week ago again',
  'approval added': 'no record names it; the record of an action that uses it does',
  'verdict lost': 'the audit writes it again, with all that it finds',
  ...Object.fromEntries(
    [
      'audit_head',
      'attempt',
      'bank_reference',
      'batch',
      'delivery',
      'noted',
      'pointer',
      'suspense',
    ].map((kind) => [`${kind} added`, 'nothing names it, and nothing reads it']),
  ),
  ...Object.fromEntries(
    ['shard', 'window', 'sync_head', 'audit_record', 'verdict'].map((kind) => [
      `${kind} added`,
      'a row of a client that does not exist',
    ]),
  ),
}

/** So many of all single changes may stay without a difference, with facts and rules. */
export const MOST_NOT_FOUND = 120

export function isFound({ outcome }: Outcome) {
  return outcome === 'named' || outcome === 'found'
}

/** Whether the audits must name this change, and did not. */
export function isUnexpected(change: Outcome) {
  const { kind, attribute = '', what, outcome } = change
  if (outcome === 'thrown') return true
  if (isFound(change)) return false
  const role = roleOf(kind, attribute)
  if (role === 'fact' || role === 'changing') return false
  return attribute === ''
    ? !(`${kind} ${what}` in NOT_FOUND)
    : !(`${kind}.${attribute}` in NOT_FOUND)
}
