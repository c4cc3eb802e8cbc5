import { eventKey, paymentKey } from '../../../shared/table/keys.ts'
import {
  add,
  type Corruption,
  change,
  copy,
  entryOf,
  lose,
  OTHER_ID,
  paymentCalled,
  rows,
  shardOf,
} from './corruption-world.ts'
import { type RawRow } from './raw-rows.ts'

/** By what was done to shards, payments, events and entries. */
export const CORRUPTIONS_OF_PAYMENTS: Readonly<Record<string, Corruption>> = {
  'a shard has one rupiah more': {
    make: () => add(shardOf('settledActual'), 'credited_minor', 1),
    what: /ledger\.credited_minor/,
    daily: true,
  },
  'a shard has one rupiah less': {
    make: () => add(shardOf('settledActual'), 'credited_minor', -1),
    what: /ledger\.credited_minor/,
    daily: true,
  },
  'a shard is lost': { make: () => lose(shardOf('settledActual')), what: /ledger_shard/, daily: true },
  'a shard counts one payment more': {
    make: () => add(shardOf('settledActual'), 'count_succeeded', 1),
    what: /ledger\.count_succeeded/,
  },
  'the net of a payment': {
    make: () => add(paymentKey(paymentCalled('settledActual').paymentId), 'net_minor', 1),
    what: /payment\.net_minor/,
  },
  'the fee of a payment': {
    make: () => add(paymentKey(paymentCalled('settledActual').paymentId), 'provider_fee_minor', -1),
    what: /entry\.fee_minor/,
  },
  'the status of a payment': {
    make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { status: 'failed' }),
    what: /payment\.status/,
  },
  'when a payment was paid': {
    make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { paid_at: '2026-11-20T03:00:00.000Z' }),
    what: /payment\.paid_at/,
  },
  'whose a payment is': {
    make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { client_id: OTHER_ID }),
    what: /payment\.client_id/,
  },
  'the part of a payment': {
    make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { part: 3 }),
    what: /payment\.owner|entry/,
  },
  'a settled payment is deleted': {
    make: () => lose(paymentKey(paymentCalled('settledAssumed').paymentId)),
    what: /entry\.payment_id/,
    gate: /do not balance/,
  },
  'an open payment is deleted': {
    make: () => lose(paymentKey(paymentCalled('estimated').paymentId)),
    what: /ledger\.credited_minor/,
    daily: true,
  },
  'a pending payment is deleted': {
    make: () => lose(paymentKey(paymentCalled('pending').paymentId)),
    what: /ledger\.count_pending/,
  },
  'a payment is forged as open': {
    make: () => copy(paymentKey(paymentCalled('estimated').paymentId), { pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID }),
    what: /ledger\.credited_minor|payment/,
    daily: true,
  },
  'a payment is doubled under another id': {
    make: () => copy(paymentKey(paymentCalled('settledActual').paymentId), { pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID }),
    what: /entry|ledger\.count_succeeded/,
  },
  'an open payment loses its place in the index': {
    make: () => lose(paymentKey(paymentCalled('estimated').paymentId), 'open_at'),
    what: /ledger\.credited_minor/,
    daily: true,
  },
  'the event of a payment is deleted': {
    make: () => lose(eventKey(paymentCalled('estimated').paymentId, 'payment.succeeded')),
    what: /^event/,
  },
  'the event of a payment is altered': {
    make: async () => {
      const key = eventKey(paymentCalled('estimated').paymentId, 'payment.succeeded')
      const body = String((await rows.read(key))['body'])
      return change(key, { body: body.replace('"client_net_minor":', '"client_net_minor":1') })
    },
    what: /event\.data\.client_net_minor/,
  },
  'the net of an entry': {
    make: async () => add(await entryOf('settledActual', 'payment'), 'net_minor', 1),
    what: /entry\.net_minor/,
  },
  'a settled entry is deleted': {
    make: async () => lose(await entryOf('settledActual', 'payment')),
    what: /settlement\.entry_count|^entry/,
  },
  'an entry of the open tail is deleted': {
    make: async () => lose(await entryOf('refunded', 'refund')),
    what: /ledger\.credited_minor/,
    daily: true,
  },
  'an entry is added': {
    make: async () => {
      const key = await entryOf('settledActual', 'payment')
      return copy(key, { sk: key.sk.replace(/#.*/, `#${OTHER_ID}`) })
    },
    what: /^entry/,
  },
  'an entry is moved in time': {
    make: async () => {
      const key = await entryOf('refunded', 'payment')
      const before = await rows.read(key)
      const moved = { ...before, sk: key.sk.replace(/^20../, '2031') }
      await rows.remove(key)
      await rows.write(moved)
      return async () => {
        await rows.remove({ pk: key.pk, sk: moved.sk })
        await rows.write(before)
      }
    },
    what: /entry/,
    daily: true,
  },
  'what was taken back of a payment': {
    make: () => add(paymentKey(paymentCalled('refunded').paymentId), 'taken_back_minor', -1),
    what: /payment\.taken_back_minor/,
  },
  'the rows that moved a payment': {
    make: async () => {
      const key = paymentKey(paymentCalled('refunded').paymentId)
      const [movement] = (await rows.read(key))['movements'] as readonly RawRow[]
      return change(key, { movements: [{ ...movement, amountMinor: 9_000 }] })
    },
    what: /payment\.movements|payment\.taken_back_minor/,
  },
}
