import { type RawItem, text } from '../../support/recount/books.ts'
import { OPEN } from '../promises/watch-closing.ts'
import { changeAccount } from '../scenes/change-clients.ts'
import { http, tenantOf } from '../scenes/http.ts'
import { takeBack } from '../scenes/odd-rows.ts'
import type { Faults } from '../world/faults.ts'
import { operate } from '../world/lambda.ts'
import { paymentOfReference } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import { customerActs } from './customers.ts'
import type { Play } from './operations.ts'

/** Within what a flow of ours takes from its first call to its last. */
const AT_ONCE_MS = 200
const DAY_MS = 86_400_000
/** Within what one of its calls takes. */
const CALL_MS = 20

const CONTEST_MS = 3_000
const PAYMENT = /^\/v3\/payments\/([^/]+)$/

/** The payment that is being created and may have this money. */
const createdWith = ({ world }: Play, providerPaymentId: string): RawItem | undefined => {
  const paid = world.provider.capturedPayments().some(({ id }) => id === providerPaymentId)
  const reference = paid ? world.provider.getPayment(providerPaymentId).reference_id : ''
  const payment = paymentOfReference(world, reference)
  return payment?.['status'] === 'creating' ? payment : undefined
}

const clientOfMessage = (event: unknown): string => {
  const message: unknown = JSON.parse(String(Object(event).Records?.[0]?.body))
  return String(Object(message).client_id)
}

/** Some of its money can be settled by now. */
const isToSettle = ({ scheduler, table }: World, clientId: string): boolean => {
  const window = table.item({ pk: `LEDGER#${clientId}`, sk: 'WINDOW' }) ?? {}
  const dayAgo = new Date(scheduler.nowMs() - DAY_MS).toISOString()
  return table
    .items('PAYMENT#')
    .some(
      (item) =>
        item['client_id'] === clientId &&
        text(item, 'paid_at') >= text(window, 'settled_until') &&
        text(item, 'paid_at') < dayAgo,
    )
}

/** Brings about what is rare by chance: cancels at the last moment, and triggers, reversals or changes during a sum. */
export const arrangeCloseCalls = (play: Play, faults: Faults): void => {
  const { world, oddities, scheduler } = play
  // What comes to rest, with other faults or none, is left alone.
  const happens = (probability: number) => world.faults === faults && oddities.chance(probability)
  const soon = (call: () => unknown) => void scheduler.after(oddities.int(0, AT_ONCE_MS), () => void call())
  const trigger = (clientId: string) => operate(world, 'trigger-settlement', { client_id: clientId })

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before?.['status'] !== 'creating' || after?.['status'] !== 'pending') return
    const tenant = tenantOf(play, after['client_id'])
    if (!tenant || !happens(0.15)) return
    const cancel = () => void http(play, tenant, 'api-cancel-payment', { id: key.pk.slice('PAYMENT#'.length) })
    for (const _ of ['one', 'another'])
      scheduler.at(Date.parse(text(after, 'expires_at')) + oddities.int(-CALL_MS, CALL_MS), cancel)
  })

  world.onStarted.push(({ name }, event) => {
    if (name !== 'settle-client') return
    const clientId = clientOfMessage(event)
    if (happens(0.2)) soon(() => takeBack(world, 1, (payment) => payment['client_id'] === clientId))
    if (happens(0.2)) soon(() => trigger(clientId))
    if (isToSettle(world, clientId) && happens(0.4)) soon(() => changeAccount(world, clientId))
  })

  world.onAsked.push(({ name }, method, path) => {
    const [, id] = name === 'check-due-payments' && method === 'GET' ? (PAYMENT.exec(path) ?? []) : []
    const payment = id === undefined ? undefined : createdWith(play, id)
    if (payment === undefined || !happens(0.7)) return
    world.contested.set(text(payment, 'pk'), { untilMs: scheduler.nowMs() + CONTEST_MS })
    const requests = world.provider.findPaymentRequests(text(payment, 'pk').slice('PAYMENT#'.length))
    customerActs(
      play,
      requests.filter(({ status }) => OPEN.includes(status)),
      { unseen: 0.7 },
    )
  })

  world.onAsked.push((_, __, path) => {
    const clientId = world.unreadBack
    if (path !== '/transactions' || clientId === undefined) return
    world.unreadBack = undefined
    if (happens(0.5)) soon(() => trigger(clientId))
  })
}
