import { auditHeadKey } from '../../../shared/table/keys.ts'
import { add, type Case, change, copy, lose, set } from './corruptions.ts'
import { MANY_ROWS } from './corruptions-of-many-rows.ts'
import {
  clientRow,
  entryRow,
  eventRow,
  findingRow,
  history,
  houseRow,
  notedRow,
  paymentRow,
  type Row,
  recordRow,
  settlementRow,
  shardRow,
  suspenseRow,
  windowRow,
} from './history-places.ts'

const OTHER_ID = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'

const LATER_SETTLED_UNTIL = { settled_until: '2026-11-21T03:00:00.001Z' }
const RESOLUTION = { status: 'resolved', resolution: 'written_off' }

const shard = shardRow('settledActual')
const entry = entryRow('settledActual', 'payment')
const refundedEntry = entryRow('refunded', 'payment')
const recordedSettlement = settlementRow('recorded')
const heldSuspense = suspenseRow('held')

export const HALVED_SUSPENSE = set(heldSuspense, { amount_minor: 15_000 })
const CREDITED_SUM = /ledger\.credited_minor/
const AUDIT_RECORD = /audit_record/

export const CORRUPTIONS: readonly Case[] = [
  ['a shard has one rupiah more', add(shard, 'credited_minor'), CREDITED_SUM, 'daily'],
  ['a shard is lost', lose(shard), /ledger_shard/, 'daily'],
  ['a shard counts one payment more', add(shard, 'count_succeeded'), /ledger\.count_succeeded/],

  ['a settled payment is deleted', lose(paymentRow('settledAssumed')), /entry\.payment_id/, 'gate'],
  [
    'a settled payment belongs to another client',
    set(paymentRow('settledAssumed'), { owner: OTHER_ID }),
    /payment\.client_id/,
    'gate',
  ],
  [
    'the digest of a settled payment fits no client',
    set(paymentRow('settledAssumed'), { key_digest: 'x' }),
    /payment\.key_digest/,
    'gate',
  ],
  ['an open payment is deleted', lose(paymentRow('estimated')), CREDITED_SUM, 'daily'],
  ['a pending payment is deleted', lose(paymentRow('pending')), /ledger\.count_pending/],
  [
    'a payment is forged as open',
    copy(paymentRow('estimated'), withForgedId),
    /ledger\.credited_minor|payment/,
    'daily',
  ],
  [
    'an open payment leaves the index',
    set(paymentRow('estimated'), { open_at: undefined }),
    CREDITED_SUM,
    'daily',
  ],

  ['the event of a payment is deleted', lose(eventRow('estimated')), /^event/],

  ['the net of an entry is altered', add(entry, 'net_minor'), /entry\.net_minor/],
  ['the method of an entry is altered', set(entry, { method: 'qris' }), /^entry\.method/],
  ['a settled entry is deleted', lose(entry), /settlement\.entry_count|^entry/],
  [
    'an entry of the open tail is deleted',
    lose(entryRow('refunded', 'refund')),
    CREDITED_SUM,
    'daily',
  ],
  [
    'an entry is added',
    copy(entry, ({ sk }) => ({ sk: String(sk).replace(/#.*/, `#${OTHER_ID}`) })),
    /^entry/,
  ],
  [
    'an entry is moved',
    change(refundedEntry, ({ sk }) => ({ sk: String(sk).replace(/^20../, '2031') })),
    /entry/,
    'daily',
  ],

  [
    'the net of a settlement is altered',
    add(recordedSettlement, 'net_minor'),
    /settlement\.net_minor/,
    'gate',
  ],
  [
    'the bank account of a settlement is altered',
    change(recordedSettlement, withOtherBank),
    /settlement\.bank/,
    'gate',
  ],
  [
    'a settlement cannot be read',
    set(recordedSettlement, { net_minor: 'much' }),
    /^settlement$/,
    'daily',
  ],
  ['a settlement is deleted', lose(recordedSettlement), /^settlement$/, 'daily'],

  [
    'the available sum of the window is altered',
    add(windowRow, 'available_minor'),
    /window\.available_minor/,
    'daily',
  ],
  [
    'the paid-out sum of the window is not a number',
    set(windowRow, { paid_out_minor: 'much' }),
    /^window$/,
    'daily, gate',
  ],
  ['the window is lost', lose(windowRow), /^window$/, 'daily, gate'],
  [
    'the end of the settled window is altered',
    set(windowRow, LATER_SETTLED_UNTIL),
    /window\.settled_until/,
    'daily, gate',
  ],

  ['money in suspense is halved', HALVED_SUSPENSE, /suspense\.amount_minor/, 'daily'],
  [
    'money in suspense becomes a finding',
    set(heldSuspense, { kind: 'finding' }),
    /suspense\.kind/,
    'daily',
  ],
  ['money in suspense is deleted', lose(heldSuspense), /^suspense$/, 'daily'],
  ['a finding is deleted', lose(findingRow), /^suspense$/, 'daily'],
  [
    'a finding names another client',
    set(findingRow, { client_id: OTHER_ID }),
    /client_id/,
    'daily',
  ],
  ['the register of suspense loses a row', lose(notedRow('held')), /^noted$/, 'daily'],
  [
    'the register of suspense has another amount',
    set(notedRow('held'), { amount_minor: 15_000 }),
    /suspense\.amount_minor/,
    'daily',
  ],
  ['the register of suspense is unreadable', set(notedRow('held'), { kind: 1 }), /noted/, 'daily'],
  [
    'money in suspense is resolved without a record',
    set(heldSuspense, RESOLUTION),
    /suspense\.resolution/,
    'daily',
  ],
  [
    'resolved money is open again',
    set(suspenseRow('refundedByBank'), { status: 'open' }),
    /suspense\./,
    'daily',
  ],
  ['a house entry is removed', lose(houseRow), /suspense\.provider_minor|house_total/, 'daily'],

  ['an audit record is edited', set(recordRow, { operator: 'mallory' }), AUDIT_RECORD],
  ['an audit record is added', copy(recordRow, asNinthRecord), AUDIT_RECORD],
  [
    'the head of a trail is lost',
    lose(() => auditHeadKey(history.settlements.paid.settlementId)),
    AUDIT_RECORD,
  ],
  [
    'the creation time of a client is altered',
    set(clientRow, { created_at: '2026-11-20T04:00:00.001Z' }),
    /client\.created_at/,
    'daily',
  ],
  [
    'bank details change without a record',
    change(clientRow, withOtherBank),
    /client\.bank/,
    'daily, gate',
  ],
  ...MANY_ROWS,
]

function withForgedId() {
  return { pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID }
}

function withOtherBank({ bank }: Row) {
  return { bank: { ...Object(bank), bankAccountNo: '6660001' } }
}

function asNinthRecord({ sk }: Row) {
  return { sk: `${String(sk).slice(0, 24)}#${OTHER_ID}`, number: 9 }
}
