import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Condition } from '../../../shared/table/condition.ts'
import { text } from '../../support/recount/books.ts'
import { count } from '../world/tally.ts'
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
  /** Events by their payment: what the stream has lost. */
  const lost = new Set<string>()
  let lostInStep = -1

  const firedMs = new Map<string, number>()

  world.onStarted.push(({ name }, event) => {
    if (name !== 'fan-out-events') return
    const pk = String(Object(event).Records?.[0]?.dynamodb?.Keys?.pk?.S)
    const late = world.scheduler.nowMs() - (firedMs.get(pk) ?? Number.POSITIVE_INFINITY)
    if (late > 1_000) count(world.tally, 'fault streamLagMs')
    firedMs.delete(pk)
  })
  world.onFault.push((fault) => {
    if (fault === 'streamLost') lostInStep = world.scheduler.steps()
  })

  world.onChange.push(({ key, before, after }) => {
    if (after === undefined) return
    if (before === undefined && key.sk.startsWith('EVENT#')) {
      firedMs.set(key.pk, world.scheduler.nowMs())
      if (lostInStep === world.scheduler.steps()) lost.add(key.pk)
    }
    if (before === undefined && key.sk.startsWith('ATTEMPT#') && after['error'] === 'unknown')
      meet(world, 'an attempt whose worker died is recorded')
    if (key.sk !== 'DELIVERY') return
    if (before === undefined) {
      const isFound = world.acting?.name === 'check-due-events' && lost.has(`PAYMENT#${text(after, 'payment_id')}`)
      if (isFound) meet(world, 'an event that the stream lost is found by the watchdog')
      return
    }
    const [was, is] = [statusOf(before), statusOf(after)]
    if (was === 'scheduled' && is === 'succeeded') meet(world, 'a delivery succeeds')
    if (was === 'scheduled' && is === 'abandoned') meet(world, 'the eighth attempt fails')
    if (was !== 'scheduled' && is === 'scheduled') {
      meet(world, 'a delivery begins another round')
      if (world.acting?.name === 'redeliver') meet(world, 'an operator sends a delivery again')
    }
    if (world.acting?.name === 'check-due-deliveries' && after['resends'] !== before['resends'])
      meet(world, 'a message that was lost is sent again')
  })

  world.onRefused.push((step) => {
    if (step.key.sk !== 'DELIVERY' || step.kind !== 'update') return
    if (step.changes.set?.['claimToken'] !== undefined) meet(world, 'a claim is taken by another worker')
    else if (asksFor(step.condition, 'claimToken')) meet(world, 'a result behind its claim is refused')
  })
}
