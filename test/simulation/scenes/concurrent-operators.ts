import type { Transaction } from '../../../infra/local/provider-simulator/provider-objects.ts'
import { type RawItem, sum, text } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { invoke, operate } from '../world/lambda.ts'
import {
  entriesOf,
  paymentOfReference,
  rowsOf,
  settlementOf,
  stageOf,
  windowRow,
} from '../world/rows.ts'
import { DAY_MS, ms } from '../world/rules.ts'
import { type World, waitFor } from '../world/world.ts'
import type { Happens, Scene } from './http.ts'
import { payOutNow } from './money-operations.ts'
import { reverseRandomPayment } from './odd-rows.ts'

export async function concurrentOperators(scene: Scene) {
  const { world, tenants, scenePrng, prng } = scene
  const having = tenants.filter((tenant) => settlementsOf(world, tenant.clientId).length > 0)
  const { clientId } = prng.pick(having.length > 0 && prng.chance(0.8) ? having : tenants)
  for (let left = prng.int(2, 3); left > 0; left--) {
    const open = settlementsOf(world, clientId)
    const settlement = open.length > 0 ? prng.pick(open) : undefined
    const dayAgoMs = world.scheduler.nowMs() - DAY_MS
    // Reversals of payments that cannot be settled yet are rare here, or nothing would be left to
    // settle.
    const isMeant = (payment: RawItem) =>
      !['open', 'posted'].includes(stageOf(world, payment)) ||
      ms(payment, 'paid_at') < dayAgoMs ||
      scenePrng.chance(0.1)
    for (let moves = scenePrng.int(0, 2); moves > 0; moves--)
      reverseRandomPayment(
        world,
        1,
        (payment) => payment['client_id'] === clientId && isMeant(payment),
      )
    const sync = () => invoke(world, 'sync-provider-transactions', {})
    const syncs = prng.chance(0.3) ? [sync, sync] : [sync]
    const acts = [...settlementActions(scene, clientId, settlement), ...syncs].filter(() =>
      prng.chance(0.7),
    )
    reportSituation(world, 'several operators move the money of one client at once')
    const apartMs = prng.pick([8, 60])
    await Promise.all(acts.map((act) => waitFor(world, prng.int(0, apartMs)).then(act)))
    if (prng.chance(0.5)) await raiseFloor(world, clientId)
    await waitFor(world, prng.pick([100, 2_000, 600_000]))
  }
}

function settlementsOf(world: World, clientId: string) {
  return rowsOf(world, 'SETTLEMENT', { client_id: clientId, recredited_at: undefined }).filter(
    ({ status }) => status !== 'manual_paid',
  )
}

/** Each action may also trigger the next settlement. */
export function settlementActions(
  scene: Scene,
  clientId: string,
  settlement: RawItem | undefined,
): readonly (() => Promise<unknown>)[] {
  const { world } = scene
  const trigger = () => operate(world, 'trigger-settlement', { client_id: clientId })
  if (settlement === undefined || settlement['recredited_at'] !== undefined)
    return [trigger, trigger]
  const named = { settlement_id: text(settlement, 'settlement_id'), notes: 'the bank refused it' }
  const recredit = () => operate(world, 'recredit-settlement', named)
  if (settlement['status'] === 'failed') return [recredit, recredit]
  if (settlement['status'] !== 'recorded') return [trigger]
  return [
    () => payOutNow(scene, settlement),
    () => operate(world, 'mark-settlement-failed', named),
    trigger,
  ]
}

/** Longer than a settlement takes from the read of the floor to its record. */
const FLOOR_MS = 6 * 60_000

/**
 * An operator sets the floor to exactly what is due. The floor must be exceeded, so nothing is
 * settled.
 */
async function raiseFloor(world: World, clientId: string) {
  const settledUntil = text(windowRow(world, clientId), 'settled_until')
  const due = entriesOf(world, clientId).filter(
    (entry) => text(entry, 'eligible_at') >= settledUntil,
  )
  const floor = sum(due, 'net_minor')
  if (floor <= 0) return
  await operate(world, 'update-client', { client_id: clientId, settlement_floor_minor: floor })
  await waitFor(world, FLOOR_MS)
  await operate(world, 'trigger-settlement', { client_id: clientId })
  await operate(world, 'update-client', { client_id: clientId, settlement_floor_minor: 0 })
}

const BACK = ['REFUND', 'CHARGEBACK', 'CHARGEBACK_REVERSAL']
const TURNED = ['VOIDED', 'REVERSED']

/** The time from a page of the sync to its writes. */
const PAGE_MS = 90

/**
 * When the sync has just read a reversal, operators change its settlement, or settle the money that
 * is in none.
 */
export function arrangeConcurrentOperators(scene: Scene, happens: Happens) {
  const { world, scenePrng, scheduler } = scene
  const met = new Set<string>()

  world.onAnswered.push((_, { path, query, outcome }) => {
    if (path !== '/transactions' || query.has('product_id') || outcome.kind !== 'answered') return
    const rows = (Object(outcome.json).data ?? []) as readonly Transaction[]
    const fresh = rows.filter(({ id, type, status }) => {
      const isBack = type === 'PAYMENT' ? TURNED.includes(status) : BACK.includes(type)
      return isBack && !met.has(`${id} ${status}`)
    })
    for (const { id, status, reference_id: reference } of fresh) {
      met.add(`${id} ${status}`)
      const payment = paymentOfReference(world, reference)
      if (payment?.['status'] !== 'succeeded' || !happens(0.3)) continue
      for (const act of settlementActions(
        scene,
        text(payment, 'client_id'),
        settlementOf(world, payment),
      ))
        if (scenePrng.chance(0.6)) scheduler.after(scenePrng.int(0, PAGE_MS), () => void act())
    }
  })
}
