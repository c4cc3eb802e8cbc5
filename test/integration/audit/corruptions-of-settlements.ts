import {
  auditHeadKey,
  clientKey,
  houseDayPk,
  settlementKey,
  suspenseKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import {
  add,
  type Corruption,
  change,
  clientId,
  copy,
  firstOf,
  history,
  lose,
  OTHER_ID,
  recordKeys,
  rows,
  settlement,
} from './corruption-world.ts'
import { type RawRow } from './raw-rows.ts'

/** By what was done to settlements, windows, suspense, the house, records and clients. */
export const CORRUPTIONS_OF_SETTLEMENTS: Readonly<Record<string, Corruption>> = {
  'the net of a settlement': {
    make: () => add(settlementKey(settlement('recorded')), 'net_minor', 1),
    what: /settlement\.net_minor/,
    gate: /do not balance/,
  },
  'the gross of a settlement': {
    make: () => add(settlementKey(settlement('recorded')), 'gross_minor', 1),
    what: /settlement\.gross_minor/,
    gate: /do not balance/,
  },
  'the number of payments of a settlement': {
    make: () => add(settlementKey(settlement('recorded')), 'payment_count', 1),
    what: /settlement\.payment_count/,
    gate: /do not balance/,
  },
  'the digest of a settlement': {
    make: () => change(settlementKey(settlement('recorded')), { digest: 'f'.repeat(64) }),
    what: /settlement\.digest/,
    gate: /do not balance/,
  },
  'the bank account of a settlement': {
    make: async () => {
      const { bank } = await rows.read(settlementKey(settlement('recorded')))
      return change(settlementKey(settlement('recorded')), {
        bank: { ...(bank as RawRow), bankAccountNo: '6660001' },
      })
    },
    what: /settlement\.bank/,
    gate: /do not balance/,
  },
  'a kept total of a settlement': {
    make: async () => {
      const { totals } = await rows.read(settlementKey(settlement('recorded')))
      const [first, ...more] = totals as readonly RawRow[]
      return change(settlementKey(settlement('recorded')), {
        totals: [{ ...first, grossMinor: Number(first?.['grossMinor']) + 1 }, ...more],
      })
    },
    what: /settlement\.totals/,
    gate: /do not balance/,
  },
  'a settlement is deleted': {
    make: () => lose(settlementKey(settlement('recorded'))),
    what: /^settlement$/,
    daily: true,
  },
  'a settlement is paid without a record': {
    make: () => change(settlementKey(settlement('recorded')), { status: 'manual_paid' }),
    what: /settlement\.mark-settlement-paid|window\.paid_out_minor/,
    daily: true,
  },
  'a paid settlement is recorded again': {
    make: () => change(settlementKey(settlement('paid')), { status: 'recorded' }),
    what: /settlement\.mark-settlement-paid|window\.paid_out_minor/,
    daily: true,
  },
  'what the window has available': {
    make: () => add(windowKey(clientId()), 'available_minor', 1),
    what: /window\.available_minor/,
    daily: true,
  },
  'what the window has in settlement': {
    make: () => add(windowKey(clientId()), 'in_settlement_minor', 1),
    what: /window\.in_settlement_minor/,
    daily: true,
  },
  'what the window has paid out': {
    make: () => add(windowKey(clientId()), 'paid_out_minor', 1),
    what: /window\.paid_out_minor/,
    daily: true,
  },
  'what the window has written off': {
    make: () => add(windowKey(clientId()), 'written_off_minor', 1),
    what: /window\.written_off_minor/,
    daily: true,
  },
  'until when the window is settled': {
    make: () => change(windowKey(clientId()), { settled_until: '2026-11-21T03:00:00.001Z' }),
    what: /window\.settled_until/,
    daily: true,
    gate: /do not balance/,
  },
  'money in suspense is halved': {
    make: () => change(suspenseKey(history.suspense.held), { amount_minor: 15_000 }),
    what: /suspense\.amount_minor/,
    daily: true,
  },
  'money in suspense is deleted': {
    make: () => lose(suspenseKey(history.suspense.held)),
    what: /^suspense$/,
    daily: true,
  },
  'money in suspense is resolved without a record': {
    make: () => change(suspenseKey(history.suspense.held), { status: 'resolved', resolution: 'written_off' }),
    what: /suspense\.resolution/,
    daily: true,
  },
  'resolved money in suspense is open again': {
    make: () => change(suspenseKey(history.suspense.refundedByBank), { status: 'open' }),
    what: /suspense\.(held_minor|resolution)/,
    daily: true,
  },
  'a house entry is removed': {
    make: async () => {
      const day = history.bookedOn.slice(0, 10)
      const [row] = (await rows.partition(houseDayPk(day))).filter(({ suspense_id: id }) => id === 'py-held')
      return lose({ pk: String(row?.['pk']), sk: String(row?.['sk']) })
    },
    what: /suspense\.posted_minor|house_total/,
    daily: true,
  },
  'an audit record is edited': {
    make: async () => change(firstOf(await recordKeys(settlement('paid'))), { operator: 'mallory' }),
    what: /audit_record/,
  },
  'an audit record is removed': {
    make: async () => lose(firstOf(await recordKeys(settlement('paid')))),
    what: /audit_record/,
  },
  'an audit record is added': {
    make: async () => {
      const key = firstOf(await recordKeys(settlement('paid')))
      return copy(key, { sk: `${key.sk.slice(0, 24)}#${OTHER_ID}`, number: 9 })
    },
    what: /audit_record/,
  },
  'an audit record is renumbered': {
    make: async () => change(firstOf(await recordKeys(settlement('paid'))), { number: 7 }),
    what: /audit_record/,
  },
  'the head of a trail is lost': {
    make: () => lose(auditHeadKey(settlement('paid'))),
    what: /audit_record/,
  },
  'bank details change without a record': {
    make: async () => {
      const { bank } = await rows.read(clientKey(clientId()))
      return change(clientKey(clientId()), { bank: { ...(bank as RawRow), bankAccountNo: '6660001' } })
    },
    what: /client\.bank/,
    daily: true,
    gate: /do not balance/,
  },
}
