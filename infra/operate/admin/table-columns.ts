const SETTLEMENTS = (
  'id client_id status batch net_minor payment_count period_end bank_name bank_account_no ' +
  'warning'
).split(' ')
const DELIVERIES =
  'delivery_id event status attempts last_status last_error next_attempt_at endpoint_id'.split(' ')
const PAYMENTS = (
  'id client_id status failure_reason method channel_code notional_minor external_reference ' +
  'created_at'
).split(' ')

/**
 * The columns that fit into a terminal, by the name of the list. A list without an entry shows
 * every field, and so does `--json`.
 */
export const TABLE_COLUMNS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  {
    'list-clients': {
      data: ['client_id', 'name', 'enabled', 'settlement_floor_minor', 'bank.bank_account_no'],
    },
    'list-api-keys': {
      data: 'key_id prefix permissions created_at expires_at revoked_at last_used_on'.split(' '),
    },
    'list-endpoints': { data: ['endpoint_id', 'url', 'event_types', 'enabled'] },
    'list-deliveries': { data: DELIVERIES },
    'get-payment': { 'timeline.events.deliveries': DELIVERIES },
    'refresh-payment': { 'timeline.events.deliveries': DELIVERIES },
    'find-payments': { data: PAYMENTS },
    'list-settlements': { data: SETTLEMENTS },
    'trigger-settlement': { settlements: SETTLEMENTS },
    'list-audit': { data: ['at', 'operator', 'action', 'subject', 'request_id'] },
    'list-suspense': {
      data: ['suspense_id', 'kind', 'cause', 'amount_minor', 'payment_id', 'status', 'created_at'],
    },
  }
