/**
 * Goal: no leg of any type can be wrong and stay unseen. Method: in the entries of random histories
 * each leg of a type is moved, negated or doubled, with another leg that keeps both sides equal, as
 * a wrong writer would; the audit's own legs must contradict each of these mutants.
 */

import * as v from 'valibot'
import { expect, it } from 'vitest'
import {
  auditAdjusted,
  auditHeld,
  auditHouseLegs,
  auditSums,
} from '../../shared/audit/rows/audit-legs.ts'
import type { Entry } from '../../shared/journal/entry.ts'
import { parseEntry } from '../../shared/journal/entry-store.ts'
import { type HouseEntry, HouseEntrySchema } from '../../shared/journal/house-store.ts'
import { minor } from '../../shared/money.ts'
import { PaymentSchema } from '../../shared/payment/payment-store.ts'
import { AdjustmentSchema } from '../../shared/posting/adjustment-store.ts'
import { SuspenseSchema } from '../../shared/suspense/suspense.ts'
import { fromItem } from '../../shared/table/attributes.ts'
import { runs } from '../support/runs.ts'
import { playHistory } from './replay.ts'

const HISTORIES = runs(15)

const LEFT = ['providerMinor', 'bankMinor', 'transitMinor'] as const
const RIGHT = ['netMinor', 'suspenseMinor', 'markupMinor', 'costMinor', 'otherMinor'] as const
const LEGS = [...LEFT, ...RIGHT]
type Leg = (typeof LEGS)[number]
const MODES = { moved: -1, negated: -2, doubled: 1 } as const

/** The operator's record is the only witness of these. */
const RECORDED = '(bankMinor|transitMinor|costMinor|otherMinor)'
const ONLY_RECORDED = new RegExp(`^house adjustment ${RECORDED} .* ${RECORDED}$`)

it('every moved, negated or doubled leg of every type is found', async () => {
  const mutants = new Map<string, boolean>()
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const { deps } = await playHistory(seed)
    const rows = deps.stored.items()
    const payments = rows
      .filter(({ pk }) => String(pk).startsWith('PAYMENT#'))
      .map((item) => v.parse(PaymentSchema, fromItem(item)))
    const journal = rows.filter(({ pk }) => String(pk).startsWith('JOURNAL#'))
    const isOfHouse = ({ pk }: { readonly pk?: unknown }) => String(pk).includes('#house#')
    const entries = journal
      .filter((item) => !isOfHouse(item))
      .map((item) => parseEntry(fromItem(item)))
    const house = journal.filter(isOfHouse).map((item) => v.parse(HouseEntrySchema, fromItem(item)))
    for (const payment of payments) {
      const own = entries.filter(({ paymentId }) => paymentId === payment.paymentId)
      for (const type of new Set(own.map((entry) => entry.type)))
        mutate(mutants, type, own, (mutated) => auditSums(payment, mutated).length > 0)
    }
    const amounts = new Map(
      rows
        .filter(({ pk }) => /^ADJUSTMENT#(?!house)/.test(String(pk)))
        .map((item) => v.parse(AdjustmentSchema, fromItem(item)))
        .map(({ entryId, amountMinor }) => [entryId, amountMinor]),
    )
    // The audit compares a returned payout with its settlement.
    const nets = new Map(rows.map(({ pk, net_minor }) => [String(pk), Number(net_minor)]))
    for (const entry of entries.filter((one) => !one.paymentId || one.type === 'written_off'))
      mutate(mutants, entry.type, [entry], ([one = entry]) => {
        const settlementPk = `SETTLEMENT#${entry.returnedSettlementId}`
        const amount = amounts.get(entry.entryId) ?? nets.get(settlementPk)
        return auditAdjusted(one, amount).length > 0 || isSeenByProvider([entry], [one])
      })
    const items = rows
      .filter(({ pk }) => String(pk).startsWith('SUSPENSE#'))
      .map((item) => v.parse(SuspenseSchema, fromItem(item)))
    for (const item of items.filter(({ kind }) => kind === 'money')) {
      const own = house.filter(({ suspenseId }) => suspenseId === item.suspenseId)
      for (const type of new Set(own.map((entry) => entry.type)))
        mutate(mutants, `house ${type}`, own, (mutated) => auditHeld(item, mutated).length > 0)
    }
    for (const entry of house) {
      const booked = house.filter(({ transactionId }) => transactionId === entry.transactionId)
      mutate(mutants, `house ${entry.type}`, [entry], ([one = entry]) => {
        const isWrong = auditHouseLegs(one, booked).length > 0
        return isWrong || isSeenByProvider([entry], [one])
      })
    }
  }

  const missed = [...mutants].flatMap(([name, isFound]) => (isFound ? [] : [name]))
  expect(missed.filter((name) => !ONLY_RECORDED.test(name))).toStrictEqual([])
  expect(mutants.size).toBeGreaterThan(400)
})

/** The provider's own balance is compared with all provider legs. */
function isSeenByProvider(
  entries: readonly (Entry | HouseEntry)[],
  mutated: readonly (Entry | HouseEntry)[],
) {
  const [before, after] = [entries, mutated].map((some) =>
    some.reduce((sum, { providerMinor }) => sum + providerMinor, 0),
  )
  return before !== after
}

/** Entries of the type are changed, the others stay. */
function mutate<E extends Entry | HouseEntry>(
  mutants: Map<string, boolean>,
  name: string,
  entries: readonly E[],
  isFound: (mutated: readonly E[]) => boolean,
) {
  const type = name.replace('house ', '')
  const legOf = (entry: E, leg: Leg) => (entry as Partial<Record<Leg, number>>)[leg] ?? 0
  const isLeft = (leg: Leg) => LEFT.some((one) => one === leg)
  for (const leg of LEGS) {
    if (entries.every((entry) => entry.type !== type || legOf(entry, leg) === 0)) continue
    for (const other of LEGS.filter((one) => one !== leg)) {
      for (const [mode, times] of Object.entries(MODES)) {
        const key = `${name} ${leg} ${mode} with ${other}`
        if (mutants.get(key)) continue
        const mutated = entries.map((entry) => {
          if (entry.type !== type) return entry
          const by = times * legOf(entry, leg)
          const back = isLeft(leg) === isLeft(other) ? -by : by
          const legs = { [leg]: legOf(entry, leg) + by, [other]: legOf(entry, other) + back }
          return {
            ...entry,
            ...Object.fromEntries(Object.entries(legs).map(([n, x]) => [n, minor(x)])),
          }
        })
        mutants.set(key, isFound(mutated))
      }
    }
  }
}
