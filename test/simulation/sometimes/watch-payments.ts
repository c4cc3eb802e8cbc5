import { pausesKey } from '../../../shared/table/keys.ts'
import { text } from '../../support/recount/books.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { paymentOfReference, paymentRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import { meet, meetEach, type SituationName } from './situations.ts'

/** From a claim to a destination, and what comes between. */
export const watchCreates = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before?.['status'] !== 'creating' || after === undefined) return
    const { status } = after
    const isTakenOver = status === 'creating' && after['attempt'] !== before['attempt']
    const [known, remembered] = [before, after].map((item) => item['remembered_provider_payment_ids'])
    meetEach(world, {
      'a payment is created': status === 'pending',
      'a payment is paid before it was shown': status === 'succeeded',
      'a released attempt is taken over': isTakenOver && before['lease_until'] === undefined,
      'an expired lease is taken over': isTakenOver && before['lease_until'] !== undefined,
      'a capture is remembered while its payment is created':
        status === 'creating' && known === undefined && remembered !== undefined,
    })
  })

  world.onRefused.push((step, was) => {
    if (step.key.sk !== 'PAYMENT' || step.kind !== 'put') return
    const [isCommit, isClaim] = ['pending', 'creating'].map((status) => step.item['status'] === status)
    meetEach(world, {
      'a commit is refused': isCommit === true,
      'an attempt continues after its lease has expired':
        isCommit === true && Number(was?.['attempt']) > Number(step.item['attempt']),
      'a second caller meets a live lease':
        isClaim === true && was?.['status'] === 'creating' && was['lease_until'] !== undefined,
    })
  })

  world.onAsked.push((_, method, path) => {
    const id = cancelledRequest(method, path)
    const request = id === undefined ? undefined : world.provider.storedRequest(id)?.request
    const payment = paymentOfReference(world, request?.reference_id)
    const isNeeded = payment?.['payment_request_id'] === id && payment?.['status'] !== 'succeeded'
    if (payment && !isNeeded) meet(world, 'a request that its payment does not need is cancelled')
  })
}

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
  expired: 'money comes for an expired payment',
  cancelled: 'money comes for a cancelled payment',
  failed: 'money comes for a failed payment',
  succeeded: 'a payment is captured a second time',
}

const isSuccess = (step: { readonly kind: string }) => {
  const { item, changes } = Object(step)
  return (item?.status ?? changes?.set?.status) === 'succeeded'
}

/** News of payments, who found it, and what it meets. */
export const watchNews = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    if (key.pk === pausesKey.pk && after !== undefined) meet(world, 'an operation of the provider is paused')
    if (key.sk === 'SUSPENSE' && before === undefined && after?.['kind'] === 'money') {
      const status = text(paymentRow(world, after['payment_id']) ?? {}, 'status')
      const held = after['cause'] === 'wrong_amount' ? undefined : HELD[status]
      if (held) meet(world, held)
    }
    if (key.sk !== 'PAYMENT' || before?.['status'] !== 'pending' || after === undefined) return
    const end = ENDS[text(after, 'status')]
    if (end) meet(world, end)
    if (after['status'] !== 'succeeded') return
    const finder = FINDERS.find((name) => name === world.acting?.name)
    if (finder) meet(world, `a success is found by ${finder}`)
    if (before['cancel_requested_at'] !== undefined) meet(world, 'a payment is paid after its cancel was requested')
    if (before['expiry_started_at'] !== undefined) meet(world, 'a payment is paid after its expiry began')
  })

  world.onRefused.push((step, was) => {
    if (step.key.sk !== 'PAYMENT' || was === undefined) return
    if (isSuccess(step) && was['status'] === 'succeeded') meet(world, 'a success is refused')
    const isCancel = step.kind === 'update' && step.changes.setIfAbsent?.['cancelRequestedAt'] !== undefined
    if (isCancel && was['status'] === 'pending') meet(world, 'a cancel is refused by an expiry that has begun')
  })
}
