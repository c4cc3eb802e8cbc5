import { pausesKey } from '../../../shared/table/keys.ts'
import { text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import type { World } from '../world/world.ts'
import { meet } from './meet.ts'
import type { SituationName } from './situations.ts'

const ENDS: Readonly<Record<string, SituationName>> = {
  succeeded: 'a payment succeeds',
  failed: 'a payment fails',
  expired: 'a payment expires',
  cancelled: 'a payment is cancelled',
}

const FINDERS = [
  'receive-provider-callback',
  'check-due-payments',
  'sync-provider-transactions',
  'sync-slices',
  'refresh-payment',
  'api-cancel-payment',
] as const

const HELD: Readonly<Record<string, SituationName>> = {
  expired: 'money for a payment that is expired',
  cancelled: 'money for a payment that is cancelled',
  failed: 'money for a payment that is failed',
  succeeded: 'a second capture',
}

const PAYMENTS = '/v3/payments/'
const REFERENCE = /"reference_id":"([0-9a-f-]{36})-\d+"/
const isSuccess = (step: { readonly kind: string }) => {
  const { item, changes } = Object(step)
  return (item?.status ?? changes?.set?.status) === 'succeeded'
}

/** What is heard of payments, by whom, and how it meets what is done to them. */
export const watchNews = (world: World): void => {
  const paymentOf = (id: string) => world.table.item({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' })

  world.onChange.push(({ key, before, after }) => {
    if (key.pk === pausesKey.pk && after !== undefined) meet(world, 'an operation of the provider is paused')
    if (key.sk === 'SUSPENSE' && before === undefined && after?.['kind'] === 'money') {
      const status = text(paymentOf(text(after, 'payment_id')) ?? {}, 'status')
      const held = after['cause'] === 'wrong_amount' ? undefined : HELD[status]
      if (held) meet(world, held)
    }
    if (key.sk !== 'PAYMENT' || before?.['status'] !== 'pending' || after === undefined) return
    const end = ENDS[text(after, 'status')]
    if (end) meet(world, end)
    if (after['status'] !== 'succeeded') return
    const finder = FINDERS.find((name) => name === world.acting?.name)
    if (finder) meet(world, `a success is found by ${finder}`)
    if (before['cancel_requested_at'] !== undefined) meet(world, 'paid after its cancel was asked for')
    if (before['expiry_started_at'] !== undefined) meet(world, 'paid after its expiry had begun')
  })

  world.onRefused.push((step, was) => {
    if (step.key.sk !== 'PAYMENT' || was === undefined) return
    if (isSuccess(step) && was['status'] === 'succeeded') meet(world, 'a success is refused')
    const isCancel = step.kind === 'update' && step.changes.setIfAbsent?.['cancelRequestedAt'] !== undefined
    if (isCancel && was['status'] === 'pending') meet(world, 'a cancel is refused by an expiry that has begun')
  })

  watchAnswers(world)
  watchCallbacks(world)
}

/** What the provider has done and is not heard of, and what it tells of and does not show. */
const watchAnswers = (world: World): void => {
  world.onAnswered.push((_, { method, path, outcome }) => {
    const cancelled = cancelledRequest(method, path)
    const request = cancelled === undefined ? undefined : world.provider.requestAsItStands(cancelled)?.request
    if (outcome.kind === 'lost' && request?.status === 'CANCELED') meet(world, 'a cancel is done and its answer lost')
    if (outcome.kind !== 'answered' || outcome.status !== 404 || !path.startsWith(PAYMENTS)) return
    const isThere = world.provider.capturedPayments().some(({ id }) => path === `${PAYMENTS}${id}`)
    if (isThere) meet(world, 'money is announced before it is shown')
  })
}

const watchCallbacks = (world: World): void => {
  const underWay = new Map<Process, string>()
  world.onStarted.push((process, event) => {
    if (process.name !== 'receive-provider-callback') return
    const id = REFERENCE.exec(String(Object(event).body))?.[1]
    if (id === undefined) return
    const status = world.table.item({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' })?.['status']
    if (status === 'expired') meet(world, 'a callback for a payment that is expired')
    if (status === 'cancelled') meet(world, 'a callback for a payment that is cancelled')
    if (status === 'pending' && [...underWay.values()].includes(id)) meet(world, 'two callbacks of one payment at once')
    underWay.set(process, id)
  })
  world.onEnded.push((process) => void underWay.delete(process))
}
