import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import type { World } from '../world/world.ts'
import { meet } from './meet.ts'

/** The payment that a reference of the provider's names. */
const paymentOf = ({ table }: World, reference: string): StoredItem | undefined =>
  table.item({ pk: `PAYMENT#${reference.slice(0, 36)}`, sk: 'PAYMENT' })

/** From a claim to a destination, and what comes between. */
export const watchCreates = (world: World): void => {
  /** References of destinations that a process has been told of and has not committed. */
  const told = new Map<Process, string>()

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before?.['status'] !== 'creating' || after === undefined) return
    if (after['status'] === 'pending') meet(world, 'a payment is created')
    if (after['status'] === 'succeeded') meet(world, 'a payment is paid before it was shown')
    if (after['status'] !== 'creating') return
    if (after['attempt'] !== before['attempt']) {
      const isReleased = before['lease_until'] === undefined
      meet(world, isReleased ? 'a released attempt is taken over' : 'a lease that ran out is taken over')
    }
    if (
      after['remembered_provider_payment_ids'] !== undefined &&
      before['remembered_provider_payment_ids'] === undefined
    )
      meet(world, 'a capture is remembered while its payment is created')
  })

  world.onRefused.push((step, was) => {
    if (step.key.sk !== 'PAYMENT' || step.kind !== 'put') return
    if (step.item['status'] === 'pending' && was && Number(was['attempt']) > Number(step.item['attempt']))
      meet(world, 'an attempt goes on after its lease')
    const isClaim = step.item['status'] === 'creating'
    if (isClaim && was?.['status'] === 'creating' && was['lease_until'] !== undefined)
      meet(world, 'a second caller meets a live lease')
    if (step.item['status'] === 'pending') meet(world, 'a commit is refused')
  })

  world.onAsked.push((_, method, path) => {
    const id = cancelledRequest(method, path)
    const request = id === undefined ? undefined : world.provider.requestAsItStands(id)?.request
    const payment = request && paymentOf(world, request.reference_id)
    const isNeeded = payment?.['payment_request_id'] === id && payment?.['status'] !== 'succeeded'
    if (payment && !isNeeded) meet(world, 'an orphan is cancelled')
  })

  world.onAnswered.push((process, { method, path, outcome }) => {
    if (method !== 'POST' || path !== '/v3/payment_requests' || outcome.kind !== 'answered' || outcome.status >= 300)
      return
    told.set(process, String(Object(outcome.json).reference_id))
  })
  world.onEnded.push((process, how) => {
    const reference = told.get(process)
    told.delete(process)
    if (how !== 'died' || reference === undefined) return
    const payment = paymentOf(world, reference)
    if (text(payment ?? {}, 'status') === 'creating') meet(world, 'a process dies between destination and commit')
  })
}
