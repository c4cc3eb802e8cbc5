import type { UpdatedFields } from '../shared/table/access.ts'
import type { Partition } from '../shared/table/keys.ts'

/** Names with blanks between: of functions, and of attributes. */
type Row = readonly [functions: string, attributes: string]

/**
 * What the updates of each function change or compare, because IAM cannot tell these apart. `npm
 * run grants -- --write` writes the table from the code, and a test compares it. Read its diff: a
 * role may change what the table names.
 */
const UPDATED_FIELDS: Readonly<Partial<Record<Partition, readonly Row[]>>> = {
  APIKEY: [['revoke-api-key', 'client_id revoked_at']],
  APPROVAL: [
    [
      `mark-settlement-paid payout-file payout-answer accept-difference recredit-settlement
        return-payout refund-payment adjust-house adjust-ledger resolve-suspense`,
      'at until used_at',
    ],
  ],
  BATCH: [['payout-file', 'settlement_ids']],
  CLIENT: [
    [
      'update-client',
      `bank enabled had_bank name payout_hold rate_limit_per_second return_url
        settlement_floor_minor`,
    ],
    ['register-endpoint delete-endpoint', 'endpoint_count'],
  ],
  DELIVERY: [
    [
      'api-redeliver-webhook api-redeliver-to-endpoint redeliver',
      `attempts due_at lost_before next_attempt_at resends round_start rounds rounds_on slot
        state status ttl work`,
    ],
    [
      'deliver-webhook',
      `attempts claim_token claimed_until due_at lost_before next_attempt_at resends slot
        state status success ttl work`,
    ],
    ['check-due-deliveries', 'due_at resends state status'],
    ['check-due-alerts', 'attempts due_at resends slot state status work'],
  ],
  ENDPOINTS: [
    [
      `api-redeliver-webhook api-redeliver-to-endpoint deliver-webhook check-due-alerts
        redeliver`,
      'last_alert_at slow_since',
    ],
    ['update-endpoint', 'enabled event_types'],
    [
      'recount-ledger',
      `client_id created_at deleted_at enabled endpoint_id event_types last_alert_at
        slow_since url`,
    ],
  ],
  EVENT: [
    ['api-redeliver-webhook api-redeliver-to-endpoint redeliver', 'ttl'],
    ['erase-customer', 'body'],
  ],
  HOUSE: [
    ['audit-client audit-ledger', 'closed day type'],
    [
      `sync-provider-transactions sync-slices refund-payment adjust-house adjust-ledger
        recount-ledger resolve-suspense`,
      `bank_minor closed cost_minor count day other_minor provider_minor suspense_minor
        transit_minor type`,
    ],
  ],
  LEDGER: [
    [
      `api-create-payment api-cancel-payment receive-provider-callback check-due-payments
        refresh-payment`,
      `count_cancelled count_expired count_failed count_pending count_succeeded credited_at
        credited_minor`,
    ],
    [
      'settle-client trigger-settlement',
      `available_minor changed_at closed_until credited_at credited_minor in_settlement_minor
        last_settlement_id progress progress_number settled_until`,
    ],
    [
      'sync-provider-transactions sync-slices',
      `closed_until count_cancelled count_expired count_failed count_pending count_succeeded
        credited_at credited_minor written_off_minor`,
    ],
    [
      'mark-settlement-paid payout-answer',
      'changed_at closed_until in_settlement_minor paid_out_minor',
    ],
    ['recredit-settlement', 'available_minor changed_at closed_until in_settlement_minor'],
    ['return-payout', 'closed_until credited_at credited_minor'],
    ['refund-payment adjust-ledger', 'closed_until credited_at credited_minor written_off_minor'],
    [
      'recount-ledger',
      `available_minor changed_at closed_until count_cancelled count_expired count_failed
        count_pending count_succeeded credited_at credited_minor in_settlement_minor
        last_settlement_id paid_out_minor progress settled_until written_off_minor`,
    ],
  ],
  NOTED: [
    [
      `api-create-payment api-cancel-payment api-get-statement receive-provider-callback
        deliver-webhook check-due-payments settle-client sync-provider-transactions
        sync-slices refresh-payment trigger-settlement refund-payment recount-ledger
        resolve-suspense`,
      `amount_minor cause client_id created_at kind payment_id provider_payment_id
        suspense_id`,
    ],
  ],
  PAYMENT: [
    [
      'api-create-payment',
      `attempt capture dispute due_at ended_at ended_by erased_at expiry_started_at failure
        failure_reason fee_status final_fee held id lease_until may_exist_upstream open_at
        paid_at provider_attempts remembered_provider_payment_ids request slot status ttl work`,
    ],
    [
      'api-cancel-payment',
      `cancel_requested_at capture dispute due_at ended_at ended_by erased_at
        expiry_started_at failure_reason fee_status final_fee held open_at paid_at slot status
        work`,
    ],
    [
      'receive-provider-callback refresh-payment',
      `capture dispute due_at ended_at ended_by erased_at expiry_started_at failure_reason
        fee_status final_fee held id open_at paid_at remembered_provider_payment_ids slot
        status ttl work`,
    ],
    [
      'check-due-payments',
      `cancel_requested_at capture dispute due_at ended_at ended_by erased_at
        expiry_started_at failure_reason fee_status final_fee held id open_at paid_at
        remembered_provider_payment_ids slot status ttl work`,
    ],
    [
      'settle-client trigger-settlement refund-payment',
      `erased_at fee_status final_fee is_void late_row_at money_version movements net_minor
        open_at posted_at provider_fee_minor provider_settled_at reversal status
        taken_back_minor transaction_contradicts transaction_id transaction_minor voided_open`,
    ],
    [
      'sync-provider-transactions sync-slices',
      `capture dispute due_at ended_at ended_by erased_at expiry_started_at failure_reason
        fee_status final_fee held id is_void late_row_at money_version movements net_minor
        open_at paid_at posted_at provider_fee_minor provider_settled_at
        remembered_provider_payment_ids reversal slot status taken_back_minor
        transaction_contradicts transaction_id transaction_minor ttl voided_open work`,
    ],
    [
      'erase-customer',
      'attempt details dispute erased_at held lease_until money_version request status',
    ],
    ['resolve-suspense', 'dispute erased_at fee_status held status'],
  ],
  QUOTA: [
    [
      `api-create-payment receive-provider-callback check-due-payments
        sync-provider-transactions sync-slices`,
      `cancel_request create_request get_balance get_payment get_request list_transactions
        ttl`,
    ],
  ],
  RATE: [
    [
      `api-create-payment api-list-payments api-get-payment api-cancel-payment
        api-get-balance api-list-balance-entries api-get-statement api-list-settlements
        api-get-settlement api-list-settlement-payments api-list-webhook-endpoints
        api-list-webhook-deliveries api-get-webhook-delivery api-redeliver-webhook
        api-redeliver-to-endpoint api-list-events`,
      'before last_used_on points second ttl',
    ],
  ],
  SETTLEMENT: [
    [
      'mark-settlement-paid payout-answer mark-settlement-failed',
      'bank_reference batch digest due_at notes settled_at slot status work',
    ],
    ['payout-file', 'batch digest status'],
    ['recredit-settlement', 'digest recredited_at status'],
    ['return-payout', 'returned_at status'],
    [
      'recount-ledger',
      `batch digest entry_count fee_minor gross_minor markup_minor net_minor payment_count
        recredited_at recredited_minor status totals unproven_minor`,
    ],
  ],
  SUSPENSE: [
    [
      `api-create-payment api-cancel-payment receive-provider-callback check-due-payments
        refresh-payment`,
      `answer_by due_at is_void provider_minor refunded_minor resolution said_at slot state
        status work`,
    ],
    ['api-get-statement', 'answer_by due_at said_at slot state status work'],
    [
      'check-due-alerts',
      `answer_by due_at is_void notes provider_minor refunded_minor resolution said_at slot
        state status work`,
    ],
    [
      'settle-client trigger-settlement recount-ledger',
      `amount_minor answer_by cause client_id created_at due_at entity id kind listed_at
        owner payment_id provider provider_payment_id resolution said_at slot state status
        suspense_id work`,
    ],
    [
      'sync-provider-transactions sync-slices refund-payment resolve-suspense',
      `amount_minor answer_by cause client_id created_at due_at entity id is_void kind
        listed_at notes owner payment_id provider provider_minor provider_payment_id
        refunded_minor resolution said_at slot state status suspense_id work`,
    ],
  ],
  SYNC: [
    [
      'sync-provider-transactions sync-slices',
      `after_id category due_at from id kind open_until position provider reads reversals_at
        round rows settles_by slot to transaction tries ttl voids work`,
    ],
    [
      'refresh-payment',
      `after_id category due_at from id kind open_until provider reads settles_by slot to
        tries ttl work`,
    ],
  ],
  TEST: [
    [
      'deliver-webhook',
      `attempts claim_token claimed_until due_at lost_before next_attempt_at resends slot
        state status success ttl work`,
    ],
    ['check-due-deliveries', 'due_at resends state status'],
    ['check-due-alerts', 'attempts due_at resends slot state status work'],
  ],
}

export function updatedFields(functionName: string): UpdatedFields {
  return Object.fromEntries(
    Object.entries(UPDATED_FIELDS).flatMap(([kind, rows]) => {
      const row = rows.find(([functions]) => wordsIn(functions).includes(functionName))
      return row ? [[kind, wordsIn(row[1])]] : []
    }),
  )
}

function wordsIn(text: string) {
  return text.split(/\s+/)
}
