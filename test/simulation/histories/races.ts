import { text, wholeRow } from '../../support/recount/books.ts'
import { changeAccount, changeEndpoints, changeKeys } from '../scenes/change-settings.ts'
import { settlementActions } from '../scenes/concurrent-operators.ts'
import { type Happens, http, tenantOf } from '../scenes/http.ts'
import { payOut } from '../scenes/money-operations.ts'
import { reverseRandomPayment } from '../scenes/odd-rows.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { askedFor } from '../watching/observations.ts'
import { invoke, operate } from '../world/lambda.ts'
import type { Process } from '../world/process.ts'
import { deliveryRow, paymentRow, rowsOf, windowRow } from '../world/rows.ts'
import { DAY_MS } from '../world/rules.ts'
import { count } from '../world/tally.ts'
import { type World } from '../world/world.ts'
import { sendCreate } from './creates.ts'
import { customerPays } from './customers.ts'
import type { Play } from './play.ts'

const CALL_MS = 20

export function arrangeRaces(play: Play, happens: Happens) {
  const { world, scenePrng, scheduler } = play
  // Sooner than a flow of the gateway ends.
  const soon = (call: () => unknown) =>
    void scheduler.after(scenePrng.int(0, 200), () => void call())
  const trigger = (clientId: string) =>
    operate(world, 'trigger-settlement', { client_id: clientId })

  world.onChange.push(({ key, before, after }) => {
    if (
      key.sk !== 'PAYMENT' ||
      before?.['status'] !== 'creating' ||
      after?.['status'] !== 'pending'
    )
      return
    const payment = wholeRow(after)
    const tenant = tenantOf(play, payment['client_id'])
    if (!tenant || !happens(0.15)) return
    const cancel = () =>
      void http(play, tenant, 'api-cancel-payment', { id: key.pk.slice('PAYMENT#'.length) })
    for (const _ of ['one', 'another'])
      scheduler.at(
        Date.parse(text(payment, 'expires_at')) + scenePrng.int(-CALL_MS, CALL_MS),
        cancel,
      )
  })

  world.onStarted.push(({ name }, event) => {
    if (name !== 'settle-client') return
    const clientId = String(JSON.parse(String(Object(event).Records?.[0]?.body)).client_id)
    if (happens(0.2))
      soon(() => reverseRandomPayment(world, 1, (payment) => payment['client_id'] === clientId))
    if (happens(0.2)) soon(() => trigger(clientId))
    if (isToSettle(world, clientId) && happens(0.4)) soon(() => changeAccount(world, clientId))
  })
}

function isToSettle(world: World, clientId: string) {
  const window = windowRow(world, clientId)
  const dayAgo = new Date(world.scheduler.nowMs() - DAY_MS).toISOString()
  return rowsOf(world, 'PAYMENT').some(
    (item) =>
      item['client_id'] === clientId &&
      text(item, 'paid_at') >= text(window, 'settled_until') &&
      text(item, 'paid_at') < dayAgo,
  )
}

type Actions = (play: Play, id: string) => readonly (() => unknown)[]

const ACTIONS: Readonly<Record<string, Actions>> = {
  PAYMENT: paymentActions,
  DELIVERY: deliveryActions,
  LEDGER: ledgerActions,
  SETTLEMENT: actionsOnSettlement,
  SUSPENSE: (play) => [() => reverseRandomPayment(play.world, 1)],
  ENDPOINTS: (play) => [() => changeEndpoints(play)],
  CLIENT: (play) => [() => changeKeys(play)],
  APIKEY: (play) => [() => changeKeys(play)],
}

/**
 * While a write is delayed, another actor changes the same item, so the writer's read is out of
 * date.
 */
export function changeDuringWrites(play: Play) {
  const { world } = play
  let running = 0

  world.onOvertaken.push((process, keys) => {
    // An alert about a reversal would lead to another reversal, in every minute in which alerts
    // fail.
    const isTelling =
      process.name === 'check-due-alerts' && keys.every(({ pk }) => pk.startsWith('SUSPENSE#'))
    const actions = keys.flatMap(({ pk }) => {
      const [kind = '', ...id] = pk.split('#')
      return isTelling ? [] : (ACTIONS[kind]?.(play, id.join('#')) ?? [])
    })
    // Each action writes too, and may lead to the next: without a limit they would never end.
    if (running >= 2 || actions.length === 0 || world.scenePrng.chance(0.5)) return
    running++
    count(world.tally, `interfered with ${process.name}`)
    reportSituation(world, 'another caller changes the item that is being written')
    void Promise.resolve(world.prng.pick(actions)()).finally(() => running--)
  })
}

function paymentActions(play: Play, id: string) {
  const { world, prng, provider } = play
  const row = paymentRow(world, id)
  const tenant = tenantOf(play, row?.['client_id'])
  const again = row?.['status'] === 'creating' ? play.created.get(id) : undefined
  const requests = provider.findPaymentRequests(id)
  const upstream = (act: (requestId: string) => unknown) =>
    customerPays(play, () => act(prng.pick(requests).payment_request_id))
  return [
    () => operate(world, 'refresh-payment', { payment_id: id }),
    ...(again ? Array(4).fill(() => sendCreate(play, again.tenant, again.key, again.body)) : []),
    ...(requests.length === 0
      ? []
      : [
          () => upstream((request) => provider.simulatePayment(request)),
          () => upstream((request) => provider.simulatePayment(request)),
          () => upstream((request) => provider.failPaymentRequest(request)),
        ]),
    ...(tenant === undefined ? [] : [() => http(play, tenant, 'api-cancel-payment', { id })]),
    ...(row?.['status'] === 'succeeded'
      ? [
          () =>
            reverseRandomPayment(
              world,
              1,
              (payment) => payment['pk'] === row['pk'] || payment === row,
            ),
        ]
      : []),
  ]
}

function deliveryActions(play: Play, id: string) {
  const { world } = play
  const row = deliveryRow(world, id)
  const tenant = tenantOf(play, row?.['client_id'])
  // The delivery is about to be made, and its endpoint was read.
  if (row === undefined) return [() => changeEndpoints(play)]
  if (tenant === undefined) return []
  const since = text(row, 'created_at')
  const endpoint = { client_id: tenant.clientId, endpoint_id: text(row, 'endpoint_id') }
  return [
    () => http(play, tenant, 'api-redeliver-webhook', { id }),
    () => operate(world, 'redeliver', { client_id: tenant.clientId, delivery_id: id }),
    () => operate(world, 'redeliver', { ...endpoint, since }),
    () => changeEndpoints(play),
  ]
}

function ledgerActions(play: Play, owner: string) {
  const { world } = play
  const [clientId] = owner.split('#')
  return [
    () => operate(world, 'trigger-settlement', { client_id: clientId }),
    () => reverseRandomPayment(world, 1, (payment) => payment['client_id'] === clientId),
    () => payOut(play),
    () => operate(world, 'audit-ledger', { client_id: clientId }),
  ]
}

function actionsOnSettlement(play: Play, id: string) {
  const { world } = play
  const row = world.table.item({ pk: `SETTLEMENT#${id}`, sk: 'SETTLEMENT' })
  const acts = row === undefined ? [] : settlementActions(play, text(row, 'client_id'), row)
  return [...acts, ...acts, () => payOut(play), () => reverseRandomPayment(world, 1)]
}

/** Functions that are not repeated here, because each repetition is a new action. */
const MAKES =
  /^(create-client|issue-api-key|register-endpoint|update-client|update-endpoint|delete-endpoint)$/

/** While a write is delayed, its request or message is repeated, so the first one writes last. */
export function repeatDuringWrites(play: Play) {
  const { world } = play
  const events = new WeakMap<Process, unknown>()
  let isSecond = false

  world.onStarted.push((process, event) => {
    if (!isSecond && !MAKES.test(process.name)) events.set(process, event)
  })

  world.onOvertaken.push((process) => {
    const { name } = process
    const event = world.scenePrng.chance(0.5) ? events.get(process) : undefined
    events.delete(process)
    if (event === undefined) return
    const headers = Object(Object(event).headers)
    // The key may be a former one, so the client is read from it.
    const tenant = play.tenants.find(({ clientId }) =>
      String(headers.authorization).includes(`_${clientId}_`),
    )
    if (tenant)
      play.seen.asked.push(
        askedFor(world, tenant, name, { query: Object(event).queryStringParameters ?? {} }),
      )
    isSecond = true
    void invoke(world, name, event)
    isSecond = false
  })
}
