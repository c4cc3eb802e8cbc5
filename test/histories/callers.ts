import { DAYS_TO_PAYOUT } from '../../infra/local/demo-walk.ts'
import { PAYABLE_AFTER_SECONDS } from '../../infra/local/local-caller.ts'
import type { Prng } from '../simulation/world/prng.ts'
import type { GatewayCalls, Shown } from './gateway-calls.ts'
import type { HistoryRecorder, Outcome } from './history-record.ts'
import { bodyOf, type Client, type PlannedPayment } from './plan-payments.ts'

type Crowd = {
  readonly calls: GatewayCalls
  readonly clients: readonly Client[]
  readonly isOver: () => boolean
}

/** Callers mostly work on this many payments of a client, the newest ones. */
const IN_HAND = 3
/** After this many creates of a client, callers want its next payment too. */
const CREATES_EACH = 6

/**
 * No fault is slow for long: a call that is under way when the gateway is killed has no answer, and
 * so shows little.
 */
const FAULTS = [
  { target: 'create', fault: 'http_500' },
  { target: 'create', fault: 'slow', value: 800 },
  { target: 'get', fault: 'http_503' },
  { target: 'get', fault: 'slow', value: 500 },
  { target: 'cancel', fault: 'http_500' },
  { target: 'cancel', fault: 'slow', value: 500 },
  { target: 'callback', fault: 'lost' },
  { target: 'callback', fault: 'duplicate', value: 3 },
  { target: 'callback', fault: 'delay', value: 20 },
  { target: 'callback', fault: 'reorder' },
]

/** Longer than a lease, so that another create takes over from one that still runs. */
const JUMP_SECONDS = 31

const ACTIONS = {
  create: 24,
  createWrongly: 3,
  find: 12,
  get: 16,
  balance: 16,
  pay: 18,
  cancel: 6,
  fail: 1,
  repeatCallback: 4,
  refresh: 2,
  lookAtDueWork: 3,
  sync: 1,
  fault: 5,
  jump: 1,
} as const

type Action = keyof typeof ACTIONS

type KnownPayments = Map<PlannedPayment, Shown>

/** Each caller has one call at a time. */
export async function runCallers(crowd: Crowd, prng: Prng, count: number) {
  const known: KnownPayments = new Map()
  const creates = new Map<Client, number>()
  const caller = async (draw: Prng) => {
    while (!crowd.isOver()) await act(crowd, known, creates, draw)
  }
  await Promise.all(Array.from({ length: count }, () => caller(prng.fork())))
  return known
}

const WEIGHTED = Object.entries(ACTIONS).flatMap(([action, often]) =>
  Array.from({ length: often }, () => action as Action),
)

async function act(
  { calls, clients }: Crowd,
  known: KnownPayments,
  creates: Map<Client, number>,
  draw: Prng,
) {
  const client = draw.pick(clients)
  const made = creates.get(client) ?? 0
  // The payments that callers want grow with the creates so far, not with the time. Now and then it
  // is an old payment.
  const wanted = client.planned.slice(0, 1 + Math.floor(made / CREATES_EACH))
  const planned = draw.pick(draw.chance(0.8) ? wanted.slice(-IN_HAND) : wanted)
  const learn = async (seeing: Promise<Outcome | undefined>) => {
    const outcome = await seeing
    if (outcome !== undefined && 'seen' in outcome && outcome.seen) known.set(planned, outcome.seen)
  }
  const onShown = async (call: (shown: Shown) => Promise<unknown>) => {
    const shown = known.get(planned)
    if (shown !== undefined) await call(shown)
  }
  const actions: Record<Action, () => Promise<unknown>> = {
    create: () => {
      creates.set(client, made + 1)
      return learn(calls.create(client, planned, bodyOf(planned, made)))
    },
    createWrongly: () =>
      learn(calls.create(client, planned, { reference: `${planned.key}-wrong`, amount: 0 })),
    find: () => learn(calls.find(client, planned.key)),
    get: () => onShown(({ id }) => calls.get(client, id)),
    balance: () => calls.balance(client),
    pay: () => onShown(async (shown) => planned.isPayable && calls.visit(client, shown, 'pay')),
    cancel: () => onShown(({ id }) => calls.cancel(client, id)),
    fail: () => onShown((shown) => calls.visit(client, shown, 'fail')),
    repeatCallback: () => onShown(calls.repeatCallback),
    refresh: () =>
      onShown(({ id }) => calls.invoke('refresh-payment', { operator: 'history', payment_id: id })),
    lookAtDueWork: () => calls.invoke('check-due-work'),
    sync: () => calls.invoke('sync-provider-transactions'),
    fault: () => calls.post('provider', '/_simulator/faults', draw.pick(FAULTS)),
    jump: () => calls.advance(JUMP_SECONDS),
  }
  await actions[draw.pick(WEIGHTED)]()
}

/** Every lease and claim has expired after this time. */
const LEASES_SECONDS = 40
const ENDED_UPSTREAM = ['SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED']

export async function comeToRest(
  calls: GatewayCalls,
  clients: readonly Client[],
  known: KnownPayments,
  { rests }: Pick<HistoryRecorder, 'rests'>,
) {
  await calls.send('provider', '/_simulator/faults', { method: 'DELETE' })
  const made = clients.flatMap((client) =>
    client.planned.flatMap((planned) => {
      const shown = known.get(planned)
      return shown === undefined ? [] : [{ client, key: planned.key, payment: shown.id }]
    }),
  )
  for (let round = 0; round < 30; round++) {
    await calls.advance(LEASES_SECONDS)
    await calls.invoke('check-due-work')
    await calls.invoke('sync-provider-transactions')
    const ended = (await calls.upstream()).filter(({ status }) =>
      ENDED_UPSTREAM.includes(String(status)),
    )
    const isEnded = (payment: string) =>
      ended.some((request) => String(request['reference_id']).startsWith(payment))
    let underWay = 0
    for (const { client, payment } of made.filter((entry) => isEnded(entry.payment))) {
      const outcome = await calls.get(client, payment)
      if (outcome !== undefined && 'seen' in outcome && outcome.seen?.status === 'pending')
        underWay++
    }
    if (underWay === 0) break
  }
  rests()
  for (const { client, key, payment } of made) {
    await calls.get(client, payment)
    await calls.find(client, key)
  }
  for (const client of clients) await calls.balance(client)
}

const TRIES = 3

export async function operatorDay(calls: GatewayCalls, clients: readonly Client[], draw: Prng) {
  await calls.advance(DAYS_TO_PAYOUT * 86_400)
  for (let tried = 0; tried < TRIES; tried++) {
    if ((await calls.invoke('sync-provider-transactions')) !== undefined) break
  }
  if (draw.chance(0.5)) await calls.invoke('sweep-settlements')
  for (const client of clients) await calls.settle(client)
  await calls.advance(PAYABLE_AFTER_SECONDS)
  for (const client of clients) {
    const recorded = await calls.invoke('list-settlements', { client_id: client.id, per_page: 100 })
    const { data } = recorded?.body ?? {}
    for (const settlement of Array.isArray(data) ? data : []) {
      const named = { id: String(settlement.id), net: Number(settlement.net_minor) }
      if (settlement.status !== 'recorded' || draw.chance(0.2)) continue
      for (let tried = 0; tried < TRIES; tried++) {
        if ((await calls.markPaid(client, named))?.outcome !== 'unknown') break
      }
    }
  }
}
