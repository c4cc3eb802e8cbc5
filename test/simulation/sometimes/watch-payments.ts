import { pausesKey } from '../../../shared/table/keys.ts'
import { text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { paymentOfReference, paymentRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import { meet, meetEach, type SituationName } from './situations.ts'

/** From a claim to a destination, and what comes between. */
export const watchCreates = (world: World): void => {
  /** By process: the reference of a request that the provider made and the process has not committed. */
  const uncommitted = new Map<Process, string>()

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

  world.onAnswered.push((process, { method, path, outcome }) => {
    if (method !== 'POST' || path !== '/v3/payment_requests' || outcome.kind !== 'answered' || outcome.status >= 300)
      return
    uncommitted.set(process, String(Object(outcome.json).reference_id))
  })
  world.onEnded.push((process, how) => {
    const reference = uncommitted.get(process)
    uncommitted.delete(process)
    if (how !== 'died' || reference === undefined) return
    const payment = paymentOfReference(world, reference)
    if (text(payment ?? {}, 'status') === 'creating') meet(world, 'a process dies between destination and commit')
  })
}

/** Applied writes without an answer: the change and the fault are in the same step of the world. */
export const watchLostAnswers = (world: World): void => {
  let last: { readonly step: number; readonly from: unknown; readonly to: unknown } | undefined

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before?.['status'] === after?.['status']) return
    last = { step: world.scheduler.steps(), from: before?.['status'], to: after?.['status'] }
  })
  world.onFault.push((fault) => {
    if (fault !== 'tableAnswerLost' || last?.step !== world.scheduler.steps()) return
    if (last.from === 'creating' && last.to === 'pending') meet(world, 'a create is committed and its answer lost')
    if (last.to === 'succeeded') meet(world, 'a success is committed and its answer lost')
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

const PAYMENTS = '/v3/payments/'
const REFERENCE = /"reference_id":"([0-9a-f-]{36})-\d+"/
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

  watchAnswers(world)
  watchCallbacks(world)
}

/** Cancels whose answer was lost, and captures that the provider does not show yet. */
const watchAnswers = (world: World): void => {
  world.onAnswered.push((_, { method, path, outcome }) => {
    const cancelled = cancelledRequest(method, path)
    const request = cancelled === undefined ? undefined : world.provider.storedRequest(cancelled)?.request
    if (outcome.kind === 'lost' && request?.status === 'CANCELED') meet(world, 'a cancel is done and its answer lost')
    if (outcome.kind !== 'answered' || outcome.status !== 404 || !path.startsWith(PAYMENTS)) return
    const isThere = world.provider.capturedPayments().some(({ id }) => path === `${PAYMENTS}${id}`)
    if (isThere) meet(world, 'a callback comes before the provider shows its payment')
  })
}

const watchCallbacks = (world: World): void => {
  const underWay = new Map<Process, string>()
  world.onStarted.push((process, event) => {
    if (process.name !== 'receive-provider-callback') return
    const id = REFERENCE.exec(String(Object(event).body))?.[1]
    if (id === undefined) return
    const status = paymentRow(world, id)?.['status']
    if (status === 'expired') meet(world, 'a callback comes for an expired payment')
    if (status === 'cancelled') meet(world, 'a callback comes for a cancelled payment')
    if (status === 'pending' && [...underWay.values()].includes(id))
      meet(world, 'two callbacks of one payment run at once')
    underWay.set(process, id)
  })
  world.onEnded.push((process) => void underWay.delete(process))
}
