import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { ifValid } from '../../if-valid.ts'
import { type Item, toItem } from '../../table/attributes.ts'
import { inflateText } from '../../table/deflated-text.ts'
import type { Key } from '../../table/keys.ts'
import { textOf } from '../../table/text-of.ts'
import { compare, missingRow, shownDigest, toValue, unknownName } from '../../verdict/difference.ts'

/**
 * Texts of which a difference shows the digest, so that an acceptance covers no other text. A short
 * text can be guessed by its digest, but its readers may also read clients and their records.
 */
const CONFIDENTIAL = (
  'bank body customer description external_reference metadata notes payment_destination ' +
  'return_url sealed_secret url'
).split(' ')

/** A difference for each attribute in which the stored row is not as it is derived. */
export function rowDifferences(
  kind: string,
  id: string,
  derived: object,
  stored: object | undefined,
) {
  if (stored === undefined) return missingRow(kind, id)
  const [expected, found] = [flattened(derived), flattened(stored)]
  return namesThatDiffer(expected, found).flatMap((name) => {
    if (!(name in expected || isKnownName(name))) return [unknownName(kind, name)]
    const isNumber = [expected[name], found[name]].some((value) => typeof value === 'number')
    const absent = isNumber ? 0 : undefined
    const [one, other] = [toValue(expected[name] ?? absent), toValue(found[name] ?? absent)]
    const isShown = one !== other && !CONFIDENTIAL.includes(name)
    const what = `${kind}.${name}`
    if (isShown) return compare(what, id, one, other)
    return compare(what, id, 'as derived', shownDigest(textOf(found[name] ?? null)))
  })
}

/** A row is as its kind makes it, under the key of its own facts. */
export function keyedDifferences(
  kind: string,
  id: string,
  made: { readonly key: Key; readonly row: object },
  stored: Item,
) {
  const { pk, sk } = made.key
  const ownKey = `${String(stored['pk'])} ${String(stored['sk'])}`
  return [
    ...compare(`${kind}.key`, id, `${pk} ${sk}`, ownKey),
    ...rowDifferences(kind, id, made.row, stored),
  ]
}

/** Each recorded thing has its row, and no row (or other thing that is `found`) has no record. */
export function recordedDifferences(
  kind: string,
  recorded: ReadonlyMap<string, object>,
  rows: ReadonlyMap<string, Item | undefined>,
  found: Iterable<string> = rows.keys(),
) {
  return [
    ...[...recorded].flatMap(([id, row]) => rowDifferences(kind, id, row, rows.get(id))),
    ...[...new Set(found).difference(recorded)].flatMap((id) =>
      compare(kind, id, 'recorded', 'not recorded'),
    ),
  ]
}

export function ttlOf({ ttl }: Item) {
  return { ttl: ifValid(v.number(), ttl) }
}

/** The details of a payment are shown by their members. */
function flattened(stored: object): Item {
  const { details, ...others } = comparable(stored)
  return typeof details === 'object'
    ? { ...others, ...toItem(details ?? {}) }
    : { ...others, details }
}

function namesThatDiffer(one: Item, other: Item) {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return names.filter((name) => !isDeepStrictEqual(one[name], other[name])).toSorted()
}

/** The attributes of all rows of this release. A later release may have written others. */
const NAMES = new Set(
  `action adjustment_reference after amount_minor answer_by at attempt attempts available_minor
  bank bank_minor bank_reference batch before body cancel_requested_at carried cause changed_at
  capture channel_code claim_token claimed_at claimed_until client_id closed closed_until cost_minor
  count count_cancelled count_expired count_failed count_pending count_succeeded created_at
  credited_at credited_minor currency customer day
  deleted_at description digest dispute due_at duration_ms eligible_at enabled ended_at ended_by
  endpoint_count endpoint_id endpoint_ids entity entry_count entry_id erased_at error event_id
  event_name event_types expires_at expiry_started_at external_reference failure failure_reason
  fee_minor fee_status figures_at final_fee fired_at gross_minor had_bank held history_day
  http_status id in_settlement_minor is_void key_digest key_id kind last_alert_at last_settlement_id
  late_row_at lease_until listed_at long_settlements lost_before markup_minor may_exist_upstream
  metadata method money_version movements name net_minor next_attempt_at notes notional_minor
  number open_at operator other_minor owes_since owes_told_at owner paid_at paid_out_minor
  payload payment_count payment_destination payment_id payment_request_id payout_hold permissions
  position posted_at prefix previous previous_id progress progress_number
  proven_eligible_at proven_minor provider provider_attempts provider_fee_minor provider_minor
  provider_payment_id provider_settled_at provider_transaction_id rate_limit_per_second
  recredited_at recredited_minor recredited_settlement_id reference refunded_minor
  remembered_provider_payment_ids request request_id resends resolution response_body restored_at
  return_url returned_at returned_settlement_id reversal reversals_at revoked_at round
  round_start rounds rounds_on row_at said_at sealed_secret settled_at settled_until
  settlement_floor_minor settlement_id settlement_ids slot slow_since standing state status
  subject success suspense_id suspense_minor swept_from swept_until taken_back_minor totals
  transaction_contradicts transaction_id transaction_minor transit_minor triggered_by ttl type
  unproven_minor until url used_at version voided_open work written_off_minor`.split(/\s+/),
)

export function isKnownName(name: string) {
  return NAMES.has(name)
}

/**
 * A row with the names of attributes, without its key and without what counts as absent: zero, an
 * empty list and an empty record. Deflated texts are texts.
 */
export function comparable(fields: object): Item {
  const { pk: _pk, sk: _sk, details, body, ...others } = toItem(fields)
  return present({
    ...others,
    ...(details !== undefined && { details: detailsOf(details) }),
    ...(body !== undefined && { body: inflateText(body) ?? body }),
  })
}

function present(record: object): Item {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      const kept = presentValue(value)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

function presentValue(value: unknown): unknown {
  if (value === 0) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(presentValue)
  const isRecord = typeof value === 'object' && value !== null && !(value instanceof Set)
  if (!isRecord || value instanceof Uint8Array) return value
  const kept = present(value)
  return Object.keys(kept).length === 0 ? undefined : kept
}

/** The order of members counts only in the merchant's own JSON, which is a text. */
function detailsOf(details: unknown): unknown {
  const text = inflateText(details)
  try {
    return text === undefined ? details : JSON.parse(text)
  } catch {
    return details
  }
}
