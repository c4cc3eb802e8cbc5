import { auditHeadKey } from '../../../shared/table/keys.ts'
import {
  add,
  type Corruption,
  change,
  clientRow,
  copy,
  entryRow,
  eventRow,
  history,
  houseRow,
  lose,
  loseAttribute,
  paymentRow,
  recordRow,
  set,
  settlementRow,
  shardRow,
  suspenseRow,
  windowRow,
} from './corruption-world.ts'

type Row = Readonly<Record<string, unknown>>

const OTHER_ID = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'
const forged = () => ({ pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID })
const otherBank = ({ bank }: Row) => ({ bank: { ...(bank as Row), bankAccountNo: '6660001' } })

const shard = shardRow('settledActual')
const entry = entryRow('settledActual', 'payment')
const refunded = entryRow('refunded', 'payment')
const recorded = settlementRow('recorded')
const held = suspenseRow('held')

const CREDITED = /ledger\.credited_minor/
const RECORD = /audit_record/

/**
 * A corruption, and its name in an audit of the whole client. `daily`: the audit finds it within one day in any case;
 * `gate`: it refuses the payout.
 */
export const CORRUPTIONS: readonly (readonly [
  what: string,
  Corruption,
  name: RegExp,
  found?: 'daily' | 'gate' | 'daily, gate',
])[] = [
  ['a shard has one rupiah more', add(shard, 'credited_minor'), CREDITED, 'daily'],
  ['a shard is lost', lose(shard), /ledger_shard/, 'daily'],
  ['a shard counts one payment more', add(shard, 'count_succeeded'), /ledger\.count_succeeded/],

  ['a settled payment is deleted', lose(paymentRow('settledAssumed')), /entry\.payment_id/, 'gate'],
  ['an open payment is deleted', lose(paymentRow('estimated')), CREDITED, 'daily'],
  ['a pending payment is deleted', lose(paymentRow('pending')), /ledger\.count_pending/],
  ['a payment is forged as open', copy(paymentRow('estimated'), forged), /ledger\.credited_minor|payment/, 'daily'],
  [
    'an open payment loses its place in the index',
    loseAttribute(paymentRow('estimated'), 'open_at'),
    CREDITED,
    'daily',
  ],

  ['the event of a payment is deleted', lose(eventRow('estimated')), /^event/],

  ['the net of an entry', add(entry, 'net_minor'), /entry\.net_minor/],
  ['the method of an entry', set(entry, { method: 'qris' }), /^entry$/],
  ['a settled entry is deleted', lose(entry), /settlement\.entry_count|^entry/],
  ['an entry of the open tail is deleted', lose(entryRow('refunded', 'refund')), CREDITED, 'daily'],
  ['an entry is added', copy(entry, ({ sk }) => ({ sk: String(sk).replace(/#.*/, `#${OTHER_ID}`) })), /^entry/],
  ['an entry is moved', change(refunded, ({ sk }) => ({ sk: String(sk).replace(/^20../, '2031') })), /entry/, 'daily'],

  ['the net of a settlement', add(recorded, 'net_minor'), /settlement\.net_minor/, 'gate'],
  ['the bank account of a settlement', change(recorded, otherBank), /settlement\.bank/, 'gate'],
  ['a settlement cannot be read', set(recorded, { net_minor: 'much' }), /^settlement$/, 'daily'],
  ['a settlement is deleted', lose(recorded), /^settlement$/, 'daily'],

  ['what the window has available', add(windowRow, 'available_minor'), /window\.available_minor/, 'daily'],
  ['what the window has paid out is no number', set(windowRow, { paid_out_minor: 'much' }), /^ledger$/, 'daily, gate'],
  ['the window is lost', lose(windowRow), /^ledger$/, 'daily, gate'],
  [
    'until when the window is settled',
    set(windowRow, { settled_until: '2026-11-21T03:00:00.001Z' }),
    /window\.settled_until/,
    'daily, gate',
  ],

  ['money in suspense is halved', set(held, { amount_minor: 15_000 }), /suspense\.amount_minor/, 'daily'],
  ['money in suspense becomes a finding', set(held, { kind: 'finding' }), /suspense\.kind/, 'daily'],
  ['money in suspense is deleted', lose(held), /^suspense$/, 'daily'],
  [
    'money in suspense is resolved without a record',
    set(held, { status: 'resolved', resolution: 'written_off' }),
    /suspense\.resolution/,
    'daily',
  ],
  ['resolved money is open again', set(suspenseRow('refundedByBank'), { status: 'open' }), /suspense\./, 'daily'],
  ['a house entry is removed', lose(houseRow), /suspense\.posted_minor|house_total/, 'daily'],

  ['an audit record is edited', set(recordRow, { operator: 'mallory' }), RECORD],
  [
    'an audit record is added',
    copy(recordRow, ({ sk }) => ({ sk: `${String(sk).slice(0, 24)}#${OTHER_ID}`, number: 9 })),
    RECORD,
  ],
  ['the head of a trail is lost', lose(() => auditHeadKey(history.settlements.paid.settlementId)), RECORD],
  ['the beginning of a client', set(clientRow, { created_at: '2026-11-20T04:00:00.001Z' }), /swept_from/, 'daily'],
  ['bank details change without a record', change(clientRow, otherBank), /client\.bank/, 'daily, gate'],
]
