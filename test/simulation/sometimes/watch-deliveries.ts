import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Condition } from '../../../shared/table/step.ts'
import { amount, text } from '../../support/recount/books.ts'
import type { World } from '../world/world.ts'
import { meet } from './meet.ts'

const statusOf = (item: StoredItem) => text(item, 'status') || text(item, 'state')

/** Whether a condition asks for this value of a field, wherever in it. */
const asksFor = (condition: Condition | undefined, field: string): boolean => {
  if (condition === undefined) return false
  if ('of' in condition) return condition.of.some((one) => asksFor(one, field))
  return condition.test === 'equals' && condition.field === field
}

/** From an event to its last attempt. */
export const watchDeliveries = (world: World): void => {
  /** Deliveries of which a message has left. */
  const sent = new Set<string>()

  world.onMessage.push((_, { body }) => sent.add(`DELIVERY#${String(Reflect.get(body, 'delivery_id'))}`))

  world.onChange.push(({ key, before, after }) => {
    if (after === undefined) return
    if (before === undefined && key.sk.startsWith('ATTEMPT#') && after['error'] === 'unknown')
      meet(world, 'an attempt whose worker died is recorded')
    if (key.sk !== 'DELIVERY' || before === undefined) return
    const [was, is] = [statusOf(before), statusOf(after)]
    if (was === 'scheduled' && is === 'succeeded') meet(world, 'a delivery succeeds')
    if (was === 'scheduled' && is === 'abandoned') meet(world, 'the eighth attempt fails')
    if (was !== 'scheduled' && is === 'scheduled') {
      meet(world, 'a delivery begins another round')
      if (world.acting?.name === 'redeliver') meet(world, 'an operator sends a delivery again')
    }
    if (world.acting?.name === 'check-due-deliveries' && amount(after, 'resends') > amount(before, 'resends'))
      meet(
        world,
        sent.has(key.pk)
          ? 'a message that was lost is sent again'
          : 'a message that was never sent is sent by due work',
      )
  })

  world.onRefused.push((step) => {
    if (step.key.sk !== 'DELIVERY' || step.kind !== 'update') return
    if (step.changes.set?.['claimToken'] !== undefined) meet(world, 'a claim is taken by another worker')
    else if (asksFor(step.condition, 'claimToken')) meet(world, 'a result after its claim is refused')
  })
}
