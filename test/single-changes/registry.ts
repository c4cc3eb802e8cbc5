/**
 * What the audit knows of each attribute of each kind of row:
 * - `derived`: other rows that stay, or the row's key, determine it;
 * - `trail`: the records of operators say it;
 * - `copy`: another row repeats it, until that row goes;
 * - `fact`: no other row repeats it;
 * - `changing`: it moves by a rule.
 */
export const ROLES = ['derived', 'trail', 'copy', 'fact', 'changing'] as const
type Role = (typeof ROLES)[number]

type Line = readonly [role: Role, by: string, ...attributes: readonly string[]]

const INDEXED = ['owner', 'entity', 'listed_at', 'id']
const WORK = ['work', 'slot']

/** Of each kind that is audited. `details.` names a member of the deflated details of a payment. */
export const REGISTRY: Readonly<Record<string, readonly Line[]>> = {
  client: [
    ['derived', 'its key and its kind', 'client_id', ...INDEXED],
    ['derived', 'its endpoints that are not deleted', 'endpoint_count'],
    [
      'trail',
      'the last create-client or update-client',
      ...words('name enabled settlement_floor_minor bank had_bank return_url'),
      ...words('rate_limit_per_second payout_hold created_at'),
    ],
  ],
  api_key: [
    ['derived', 'its key and its record', ...INDEXED],
    [
      'trail',
      'the last issue-api-key or revoke-api-key',
      ...words('key_id client_id prefix permissions created_at expires_at revoked_at'),
    ],
  ],
  endpoint: [
    ['derived', 'its key', 'client_id', 'endpoint_id'],
    [
      'trail',
      'the last register-endpoint or update-endpoint',
      ...words('url event_types enabled created_at'),
    ],
    ['fact', 'sealed; a changed secret opens no more, and the worker says so', 'sealed_secret'],
    ['changing', 'the worker: past times, absent after an answer', 'slow_since', 'last_alert_at'],
  ],
  deleted_endpoint: [
    ['derived', 'its key', 'client_id', 'endpoint_id', 'enabled'],
    ['trail', 'its last record', 'url', 'event_types', 'created_at', 'deleted_at'],
    ['changing', 'as of an endpoint', 'slow_since', 'last_alert_at'],
  ],
  payment: [
    ['derived', 'its key and its kind', 'id', 'entity'],
    ['derived', 'its id, which is derived from both', 'owner', 'key_digest'],
    ['derived', 'its event and the counts of its shard', 'status'],
    ['derived', 'its status', ...WORK],
    ['derived', 'the tariff and its final fee', 'provider_fee_minor', 'markup_minor', 'net_minor'],
    ['derived', 'its posting, and the fees of the contract', 'fee_status', 'final_fee'],
    ['derived', 'its entries', 'posted_at', 'late_row_at', 'provider_settled_at', 'paid_at'],
    [
      'derived',
      'its entries',
      ...words('transaction_id transaction_minor transaction_contradicts'),
    ],
    ['derived', 'its time of payment, until it is posted', 'open_at'],
    ['derived', 'its movements', 'taken_back_minor', 'reversal', 'is_void', 'voided_open'],
    ['derived', 'the number of its movements and postings', 'money_version'],
    ['derived', 'its last attempt', 'details.attempt'],
    ['derived', 'the one provider', 'details.provider'],
    ['trail', 'erase-customer', 'erased_at'],
    [
      'copy',
      'the entries of a posted payment for ever, else its event',
      ...words('notional_minor method channel_code external_reference'),
    ],
    [
      'copy',
      'its event',
      ...words('listed_at ended_at failure_reason details.payment_destination'),
      ...words('details.customer details.description details.metadata'),
    ],
    ['copy', 'the events of its movements, and their entries', 'movements'],
    ['derived', 'its items in suspense', 'held'],
    ['copy', 'its case, which says the last state of a dispute', 'dispute'],
    [
      'fact',
      'the provider alone knows it; the sync compares it',
      ...words('capture details.payment_request_id'),
      ...words('details.provider_attempts'),
    ],
    [
      'fact',
      'a time of a request or of our own check; no money depends on it after its end',
      ...words('details.expires_at cancel_requested_at expiry_started_at ended_by'),
    ],
    ['changing', 'due work: from its creation to two hours after its expiry', 'due_at'],
    [
      'changing',
      'captures during the create, until the first check',
      'remembered_provider_payment_ids',
    ],
  ],
  event: [
    ['derived', 'its payment', 'body', ...INDEXED],
    ['copy', 'the deliveries of its transaction', 'endpoint_ids'],
    ['changing', '120 days from its birth or from a redelivery', 'ttl'],
  ],
  delivery: [
    ['derived', 'its event and its endpoint', 'event_id', 'event_name', 'subject', 'client_id'],
    ['derived', 'its event and its endpoint', 'url', 'fired_at', 'owner', 'entity', 'id'],
    ['derived', 'its state', ...WORK],
    ['fact', 'the time of a redelivery that made it; else the time of its event', 'listed_at'],
    ['fact', 'its first attempt, for diagnostics, as an attempt is', 'success'],
    ['fact', 'the text of a test delivery', 'body'],
    ['changing', 'the worker: a state of the machine, its attempts counted', 'status', 'state'],
    ['changing', 'the worker: at most eight of a round', 'attempts', 'round_start'],
    ['changing', 'redeliveries: at most ten a day', 'rounds', 'rounds_on'],
    ['changing', 'the worker, while it is scheduled', 'next_attempt_at', 'resends', 'lost_before'],
    ['changing', 'the worker, while it holds the attempt', 'claim_token', 'claimed_until'],
    ['changing', 'due work of a scheduled attempt or of an alert', 'due_at'],
    ['changing', '90 days after its end', 'ttl'],
  ],
  attempt: [
    ['derived', 'its key', 'number'],
    ['derived', 'its time', 'ttl'],
    ['fact', 'for diagnostics: possible ones', 'at', 'duration_ms', 'error'],
    ['fact', 'for diagnostics: an answer, or its error', 'http_status', 'response_body'],
  ],
  shard: [
    ['derived', 'open payments, unsettled entries and settlements', 'credited_minor'],
    [
      'derived',
      'the payments in each status',
      ...words('count_pending count_succeeded count_failed count_expired count_cancelled'),
    ],
    ['changing', 'the fence: from settled_until to closed_until of the window', 'closed_until'],
    ['changing', 'the last credit: a past time', 'credited_at'],
  ],
  approval: [
    ['trail', 'the last approve of its subject', ...words('action payload operator at until')],
    ['trail', 'the record of the action that used it', 'used_at'],
  ],
  batch: [
    ['derived', 'its key and the digests in its records', 'number', 'settlement_ids'],
    ['trail', 'the register of batches', 'created_at'],
  ],
  window: [
    ['derived', 'the settlements', 'settled_until', 'last_settlement_id'],
    ['derived', 'the settlements', 'in_settlement_minor', 'paid_out_minor'],
    ['derived', 'the re-credits after the last settlement', 'available_minor'],
    ['derived', 'the entries written_off', 'written_off_minor'],
    ['changing', 'the fence: from settled_until to now', 'closed_until'],
    ['changing', 'the time of a settlement, a payout or a re-credit', 'changed_at'],
    ['changing', 'a sum under way; a lost one begins again', 'progress', 'progress_number'],
  ],
  entry: [
    [
      'derived',
      'its payment, settlement or adjustment',
      ...words('type posted_at gross_minor fee_minor markup_minor net_minor'),
      ...words('provider_minor bank_minor transit_minor suspense_minor cost_minor other_minor'),
      ...words('payment_id recredited_settlement_id returned_settlement_id carried'),
      ...words('proven_minor proven_eligible_at'),
      ...words('provider_transaction_id provider_settled_at external_reference method'),
      ...words('channel_code paid_at adjustment_reference'),
    ],
  ],
  house_entry: [
    ['derived', 'its key', 'type', 'transaction_id'],
    [
      'derived',
      'its item in suspense, or the record of its correction',
      ...words('suspense_id client_id payment_id'),
    ],
    ['derived', 'its other sides and the total of its day', 'suspense_minor', 'other_minor'],
    ['copy', 'the total of its day', ...words('provider_minor bank_minor cost_minor posted_at')],
    ['trail', 'the record of adjust-house; other entries have none', 'transit_minor'],
    ['fact', 'the provider’s row; no sum depends on it', 'amount_minor', 'fee_minor'],
    ['fact', 'the provider’s time; the key has its day', 'row_at'],
  ],
  house_total: [
    ['derived', 'its key', 'type', 'day'],
    [
      'derived',
      'the entries of its day',
      ...words('provider_minor bank_minor transit_minor suspense_minor cost_minor other_minor'),
      'count',
    ],
    ['changing', 'the audit of the gateway: after the day, for good', 'closed'],
  ],
  adjustment: [
    ['derived', 'its key', 'client_id', 'reference'],
    [
      'trail',
      'its adjust-ledger',
      ...words('kind amount_minor provider_transaction_id notes entry_id eligible_at'),
    ],
  ],
  house_adjustment: [
    ['derived', 'its key', 'reference'],
    [
      'trail',
      'its adjust-house',
      ...words('bank_minor transit_minor cost_minor other_minor notes posted_at'),
    ],
  ],
  settlement: [
    ['derived', 'its key, its client and its kind', 'settlement_id', 'client_id', ...INDEXED],
    ['fact', 'from the time of its id to now', 'created_at'],
    [
      'derived',
      'the settlement before it and the next',
      ...words('swept_from swept_until previous_id'),
    ],
    [
      'derived',
      'its entries',
      ...words('gross_minor fee_minor markup_minor net_minor payment_count'),
      ...words('recredited_minor unproven_minor entry_count digest totals'),
    ],
    ['derived', 'its kind', 'currency'],
    ['derived', 'its status', ...WORK, 'due_at'],
    ['trail', 'the bank details of its client at its record', 'bank'],
    [
      'trail',
      'its own records',
      ...words('status triggered_by notes batch bank_reference settled_at recredited_at'),
      'returned_at',
    ],
  ],
  suspense: [
    ['derived', 'its key and its kind', 'suspense_id', 'provider', ...INDEXED],
    ['derived', 'the alert that is due', ...WORK],
    ['derived', 'its house entries', ...words('provider_minor is_void refunded_minor')],
    ['trail', 'resolve-suspense, or its house entries', 'status', 'resolution', 'notes'],
    [
      'derived',
      'its row in the register',
      ...words('kind cause amount_minor payment_id client_id provider_payment_id'),
      'created_at',
    ],
    ['derived', 'the dispute that its payment shows', 'state', 'answer_by'],
    ['fact', 'when the provider said it; it orders the news of a dispute', 'said_at'],
    ['changing', 'the alert, until it is published; of a dispute until it ends', 'due_at'],
  ],
  noted: [
    ['derived', 'its key', 'suspense_id', 'client_id'],
    [
      'derived',
      'its item in suspense',
      ...words('kind cause amount_minor payment_id provider_payment_id created_at'),
    ],
  ],
  verdict: [
    [
      'changing',
      'the audit writes it, the next audit writes it again: past times, a number that grows',
      ...words('version figures_at history_day standing progress long_settlements'),
      ...words('restored_at owes_since owes_told_at'),
    ],
  ],
  audit_record: [
    [
      'derived',
      'the digest in the next record or in the head',
      ...words('subject operator action at request_id before after number'),
      'previous',
    ],
    ['derived', 'its client and its key', ...INDEXED],
  ],
  audit_head: [['derived', 'the records of its subject', 'number', 'digest']],
  pointer: [['derived', 'its payment', 'payment_id']],
  bank_reference: [['derived', 'its settlement', 'settlement_id']],
  sync_head: [
    ['derived', 'its kind', 'provider'],
    ['changing', 'the sync: forwards, not past now', ...words('position round reversals_at')],
  ],
}

/** The kinds that no audit reads. */
export const NOT_AUDITED: Readonly<Record<string, string>> = {
  creating_payment: 'a create that no request shows yet',
  rate: 'a counter of requests, gone after an hour, and the last use of a key',
  pushes: 'the last pushes to one phone, gone after minutes',
  quota: 'counters of calls to the provider',
  sync: 'a slice of the sync, read again when its lease is over',
}

export function roleOf(kind: string, attribute: string) {
  return REGISTRY[kind]?.find(([, , ...attributes]) => isListed(attributes, attribute))?.[0]
}

/** A nested attribute has the role of the attribute that contains it, unless it has its own. */
function isListed(attributes: readonly string[], attribute: string) {
  return attributes.some((name) => attribute === name || attribute.startsWith(`${name}.`))
}

function words(text: string) {
  return text.split(' ')
}
