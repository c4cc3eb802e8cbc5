import { booksOf, clientOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import { settlementOf, stageOf } from '../sometimes/reversal-stages.ts'
import { meet } from '../sometimes/situations.ts'
import { passed } from '../world/drive.ts'
import type { Faults } from '../world/faults.ts'
import { invoke, operate } from '../world/lambda.ts'
import { paymentOfReference } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import type { Scene } from './http.ts'
import { takeBack } from './odd-rows.ts'
import { payOutNow } from './pay-out.ts'

type Act = () => Promise<unknown>

const DAY_MS = 86_400_000

/** What operators may do about a settlement as it stands; of its client's, what is not settled yet is settled. */
export const actsOn = (scene: Scene, clientId: string, settlement: RawItem | undefined): readonly Act[] => {
  const { world } = scene
  const trigger = () => operate(world, 'trigger-settlement', { client_id: clientId })
  if (settlement === undefined || settlement['recredited_at'] !== undefined) return [trigger, trigger]
  const named = { settlement_id: text(settlement, 'settlement_id'), notes: 'the bank refused it' }
  const recredit = () => operate(world, 'recredit-settlement', named)
  if (settlement['status'] === 'failed') return [recredit, recredit]
  if (settlement['status'] !== 'recorded') return [trigger]
  return [() => payOutNow(scene, settlement), () => operate(world, 'mark-settlement-failed', named), trigger]
}

const settlementsOf = ({ table }: World, clientId: string): readonly RawItem[] =>
  table
    .items('SETTLEMENT#')
    .filter((item) => item['client_id'] === clientId && item['status'] !== 'manual_paid')
    .filter((item) => item['recredited_at'] === undefined)

/** A worker that settles has read the floor by then. */
const FLOOR_MS = 6 * 60_000

/** An operator takes all that is due, to the rupiah, for the floor that must be exceeded. */
const raiseFloor = async (world: World, clientId: string): Promise<void> => {
  const { entries, windows } = booksOf(world.table.items())
  const settledUntil = text(windows.find((window) => clientOf(window) === clientId) ?? {}, 'settled_until')
  const due = entries.filter((entry) => clientOf(entry) === clientId && text(entry, 'eligible_at') >= settledUntil)
  const floor = sum(due, 'net_minor')
  if (floor <= 0) return
  await operate(world, 'update-client', { client_id: clientId, settlement_floor_minor: floor })
  await passed(world, FLOOR_MS)
  await operate(world, 'trigger-settlement', { client_id: clientId })
  await operate(world, 'update-client', { client_id: clientId, settlement_floor_minor: 0 })
}

/** It can be settled by now. */
const isOld = ({ scheduler }: World, payment: RawItem): boolean =>
  Date.parse(text(payment, 'paid_at')) < scheduler.nowMs() - DAY_MS

/** Operators pay out, refuse, re-credit and settle one client's money at once, while the sync reads reversals. */
export const moveTogether = async (scene: Scene): Promise<void> => {
  const { world, tenants, oddities, prng } = scene
  const having = tenants.filter((tenant) => settlementsOf(world, tenant.clientId).length > 0)
  const { clientId } = prng.pick(having.length > 0 && prng.chance(0.8) ? having : tenants)
  for (let left = prng.int(2, 3); left > 0; left--) {
    const open = settlementsOf(world, clientId)
    const settlement = open.length > 0 ? prng.pick(open) : undefined
    // Of what is in no settlement yet there would soon be nothing to settle.
    const isMeant = (payment: RawItem) =>
      !['open', 'posted'].includes(stageOf(world, payment)) || isOld(world, payment) || oddities.chance(0.1)
    for (let moves = oddities.int(0, 2); moves > 0; moves--)
      takeBack(world, 1, (payment) => payment['client_id'] === clientId && isMeant(payment))
    const sync = () => invoke(world, 'sync-provider-transactions', {})
    const syncs = prng.chance(0.3) ? [sync, sync] : [sync]
    const acts = [...actsOn(scene, clientId, settlement), ...syncs].filter(() => prng.chance(0.7))
    meet(world, 'operators are at the money of one client together')
    const apartMs = prng.pick([8, 60])
    await Promise.all(acts.map((act) => passed(world, prng.int(0, apartMs)).then(act)))
    if (prng.chance(0.5)) await raiseFloor(world, clientId)
    await passed(world, prng.pick([100, 2_000, 600_000]))
  }
}

type Row = { readonly id: string; readonly type: string; readonly status: string; readonly reference_id: string }

const BACK = ['REFUND', 'CHARGEBACK', 'CHARGEBACK_REVERSAL']
const TURNED = ['VOIDED', 'REVERSED']

/** From a page to what is written of it. */
const PAGE_MS = 90

/** When the sync has just read a reversal, operators move its settlement, or settle what is in none yet. */
export const arrangeMoves = (scene: Scene, faults: Faults): void => {
  const { world, oddities, scheduler } = scene
  const met = new Set<string>()

  world.onAnswered.push((_, { path, query, outcome }) => {
    if (path !== '/transactions' || query.has('product_id') || outcome.kind !== 'answered') return
    if (world.faults !== faults) return
    const rows = (Object(outcome.json).data ?? []) as readonly Row[]
    const fresh = rows.filter(({ id, type, status }) => {
      const isBack = type === 'PAYMENT' ? TURNED.includes(status) : BACK.includes(type)
      return isBack && !met.has(`${id} ${status}`)
    })
    for (const { id, status, reference_id: reference } of fresh) {
      met.add(`${id} ${status}`)
      const payment = paymentOfReference(world, reference)
      if (payment?.['status'] !== 'succeeded' || !oddities.chance(0.3)) continue
      for (const act of actsOn(scene, text(payment, 'client_id'), settlementOf(world, payment)))
        if (oddities.chance(0.6)) scheduler.after(oddities.int(0, PAGE_MS), () => void act())
    }
  })
}
