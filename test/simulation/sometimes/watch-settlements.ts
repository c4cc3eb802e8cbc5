import { type RawItem, text } from '../../support/books.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import { meet } from './meet.ts'

/** Fees, windows and payouts. */
export const watchSettlements = (world: World): void => {
  const dead = new WeakSet<Process>()
  /** Who kept the sums of a client's window last. */
  const keptBy = new Map<string, Process>()
  const paid = new Set<string>()

  const sumsKey = (item: RawItem) => `LEDGER#${text(item, 'client_id')}#WINDOWS ${text(item, 'period_start')}`

  const goesOn = (name: string) => {
    const [keeper, own] = [keptBy.get(name), world.acting]
    if (keeper === undefined || own === undefined || keeper === own) return false
    if (dead.has(keeper)) meet(world, 'a run that died in the midst of a sum is gone on with')
    return true
  }

  const onSettlement = (before: RawItem | undefined, after: RawItem) => {
    if (before === undefined) {
      if (after['replaces'] !== undefined) return meet(world, 'a re-credited settlement is recorded again')
      meet(world, after['triggered_by'] === 'manual' ? 'a settlement by an operator' : 'a settlement by the sweep')
      if (goesOn(sumsKey(after))) meet(world, 'a window is summed over several runs')
      const endsAtFee = world.table
        .items('PAYMENT#')
        .some(
          (item) =>
            item['client_id'] === after['client_id'] &&
            item['fee_status'] === 'estimated' &&
            item['paid_at'] === after['period_end'],
        )
      if (endsAtFee) meet(world, 'a window ends before an estimated fee')
      return
    }
    if (before['status'] === 'recorded' && after['status'] === 'manual_paid') meet(world, 'a settlement is paid out')
    if (before['status'] === 'recorded' && after['status'] === 'failed') meet(world, 'a settlement fails')
    if (before['recredited_at'] === undefined && after['recredited_at'] !== undefined)
      meet(world, 'a settlement is re-credited')
  }

  const onPayment = (before: RawItem | undefined, after: RawItem) => {
    if (after['status'] !== 'succeeded') return
    const [was, is] = [before?.['status'] === 'succeeded' ? before['fee_status'] : undefined, after['fee_status']]
    if (was === undefined && is === 'actual') meet(world, 'a fee is known at success')
    if (was === 'estimated' && is === 'actual') meet(world, 'a fee becomes actual later')
    if (was === 'estimated' && is === 'assumed' && after['reversal'] === undefined)
      meet(world, 'a fee is assumed by its day')
  }

  world.onEnded.push((process, how) => {
    if (how === 'died') dead.add(process)
  })

  world.onChange.push(({ key: { pk, sk }, before, after }) => {
    if (after === undefined) return
    if (sk === 'SETTLEMENT') onSettlement(before, after)
    if (sk === 'PAYMENT') {
      onPayment(before, after)
      paid.add(text(after, 'client_id'))
      if (before === undefined && after['part'] !== undefined) meet(world, 'a payment in a part of its own')
    }
    if (pk.endsWith('#WINDOWS') && world.acting) {
      goesOn(`${pk} ${sk}`)
      keptBy.set(`${pk} ${sk}`, world.acting)
    }
    if (pk.endsWith('#REVERSALS') && before === undefined) {
      const ledger = pk.slice(0, -'#REVERSALS'.length)
      const sweptUntil = text(world.table.item({ pk: ledger, sk: 'WINDOW' }) ?? {}, 'settled_until')
      const summed = text(world.table.item({ pk: `${ledger}#WINDOWS`, sk: sweptUntil }) ?? {}, 'until')
      if ((sk.split('#')[0] ?? '') < summed) meet(world, 'money goes back inside what was summed')
    }
    if (
      sk === 'CLIENT' &&
      before &&
      after['ledger_parts'] !== before['ledger_parts'] &&
      paid.has(text(after, 'client_id'))
    )
      meet(world, 'a client grows while it has payments')
  })

  world.onRefused.push((step, was) => {
    if (step.key.sk !== 'WINDOW' || step.kind !== 'update' || was === undefined) return
    if (step.changes.set?.['settledUntil'] === undefined) return
    const condition = JSON.stringify(step.condition)
    const hasMoved = !condition.includes(`"value":"${text(was, 'settled_until')}"`)
    meet(world, hasMoved ? 'a record is refused by another one' : 'a record is refused by money that went back')
  })
}
