import * as v from 'valibot'
import { auditGateway } from '../../shared/audit/audit-gateway.ts'
import { bookDay } from '../../shared/journal/day-totals.ts'
import { getBalance } from '../../shared/ledger/ledger-store.ts'
import { minor } from '../../shared/money.ts'
import { resolveSuspense } from '../../shared/posting/resolve-suspense.ts'
import { recordSuspense } from '../../shared/suspense/record-suspense.ts'
import { addMs, DAY_MS, epochMs, HOUR_MS } from '../../shared/time.ts'
import { settledRow } from '../support/fake-provider.ts'
import { jakartaMidnightAfter } from '../support/jakarta.ts'
import { adjustBalance, someHeldMoney } from '../support/money-rows.ts'
import { invokeAdmin, OPERATOR } from '../support/operator-actions.ts'
import { bringBack, fail, payOut, recredit, sweep } from '../support/settlement-builders.ts'
import { withApproval } from '../support/with-approval.ts'
import { adjustHouse, bookHouse, correctByRow, refundByRow } from './house-steps.ts'
import {
  aWeekLater,
  pay,
  refundByBank,
  settleOwnRow,
  takeBack,
  undo,
  voidOwnRow,
} from './payment-steps.ts'
import {
  begin,
  drawRow,
  type Play,
  pickFrom,
  pickOf,
  postOverdue,
  read,
  shownFigures,
} from './play.ts'
import { audits, Books, bookDifferences, entryDifferences } from './play-differences.ts'

/**
 * Plays one random history on the gateway and on the model: the provider's rows in any order, and
 * what operators do. Answers what differs: entries, books by day, or an audit that finds something.
 */
export async function replayHistory(seed: number) {
  const play = await playHistory(seed)
  return [...entryDifferences(play), ...(await bookDifferences(play)), ...(await audits(play))]
}

export async function playHistory(seed: number) {
  const play = await begin(seed)
  await playOn(play, play.prng.pick([10, 20, 40, 60]))
  play.deps.clock.advance(600)
  return play
}

async function playOn(play: Play, steps: number) {
  for (let left = steps; left > 0; left--) {
    play.deps.clock.advance(play.prng.int(60, 20_000))
    play.model.setTime(epochMs(play.deps.now()))
    await play.prng.pick(STEPS)(play)
  }
}

/**
 * The books of the days that the next sweep and audit close, before and after the history goes on.
 */
export async function closedBooks(seed: number) {
  const play = await playHistory(seed)
  play.deps.clock.set(addMs(jakartaMidnightAfter(play.deps.now()), 10 * HOUR_MS))
  for (const client of play.clients) await settleOf(play, client)
  await auditGateway(play.deps)
  const [client] = play.clients
  const days = { from: FIRST_DAY, to: bookDay(addMs(play.deps.now(), -DAY_MS)) }
  const readBooks = async () => [
    await figuresOf(play, days),
    await figuresOf(play, { ...days, ...(client && { client_id: client.clientId }) }),
  ]
  const closed = await readBooks()
  await playOn(play, 30)
  return { closed, later: await readBooks() }
}

const FIRST_DAY = '2026-11-01'

/** The takings that are not posted stand beside the books. */
async function figuresOf({ deps }: Play, input: object) {
  const { body } = await invokeAdmin('get-books', deps, input)
  return v.parse(Books, body).figures.filter(({ name }) => name !== 'open')
}

const STEPS = [
  ...times(4, pay),
  ...times(4, settleOwnRow),
  ...times(5, takeBack),
  ...times(3, undo),
  voidOwnRow,
  aWeekLater,
  hold,
  ...times(2, settleHeld),
  ...times(2, giveHeldBack),
  voidHeld,
  resolveHeld,
  ...times(2, bookHouse),
  ...times(2, adjust),
  correctByRow,
  refundByBank,
  refundByRow,
  adjustHouse,
  ...times(2, settle),
  ...times(2, close),
]

function times<T>(count: number, thing: T) {
  return Array.from({ length: count }, () => thing)
}

async function adjust({ prng, deps, model, clients }: Play) {
  const client = prng.pick(clients)
  const { pendingMinor, availableMinor } = await getBalance(deps, client.clientId)
  const owed = Math.max(0, -(pendingMinor + availableMinor))
  const given = model.writtenOff.get(client.clientId) ?? 0
  const kind = prng.pick(['recovered', 'written_off', 'written_off', 'correction'] as const)
  const amount =
    kind === 'correction'
      ? prng.pick([-1_500, 700])
      : kind === 'written_off' && prng.chance(1 / 3)
        ? -given
        : prng.pick([owed, Math.ceil(owed / 2)])
  if (amount === 0) return
  await adjustBalance(deps, client, kind, amount)
  model.adjust(client.clientId, kind, amount)
}

async function settle(play: Play) {
  await settleOf(play, play.prng.pick(play.clients))
}

async function settleOf(play: Play, client: Play['clients'][number]) {
  const settlement = await sweep(play.deps, client)
  await postOverdue(play, client)
  if (settlement) play.settlements.push({ settlement, state: 'recorded' })
}

async function close({ prng, deps, model, settlements }: Play) {
  const one = pickFrom(
    prng,
    settlements.filter(({ state }) => state !== 'done'),
  )
  if (one === undefined) return
  const { settlement } = one
  const { clientId, netMinor } = settlement
  if (one.state === 'failed') {
    await recredit(deps, settlement)
    model.recredit(clientId)
    one.state = 'done'
  } else if (one.state === 'paid') {
    one.state = 'done'
    if (prng.chance(1 / 2)) return
    await bringBack(deps, settlement)
    model.adjust(clientId, 'returned', netMinor)
  } else if (prng.chance(1 / 3)) {
    await fail(deps, settlement)
    one.state = 'failed'
  } else {
    await payOut(deps, settlement)
    model.setTime(epochMs(deps.now()))
    model.payOut(clientId, netMinor)
    one.state = 'paid'
  }
}

async function hold({ prng, deps, model, held }: Play) {
  const amount = prng.pick([1, 5_000, 60_000])
  const providerPaymentId = `py-${crypto.randomUUID()}`
  await recordSuspense(deps, someHeldMoney(deps, providerPaymentId, amount))
  held.set(providerPaymentId, { providerPaymentId })
  model.hold(providerPaymentId, amount)
}

async function settleHeld({ prng, deps, model, held }: Play) {
  const one = pickOf(prng, held, ({ ownRow }) => ownRow === undefined)
  if (one === undefined) return
  const { providerPaymentId: id } = one
  const amount = model.items.get(id)?.amount ?? 0
  const p = amount - prng.pick([0, 4_000])
  const figures = {
    amountMinor: minor(amount),
    keptMinor: minor(amount - p),
    providerMinor: minor(p),
  }
  one.ownRow = settledRow({ ...one, reference: 'order 17' }, deps.now(), figures)
  if (one.isVoid) return
  await read(deps, one.ownRow)
  model.heldRow(id, p)
}

async function giveHeldBack(play: Play) {
  const { prng, deps, model, held, rows } = play
  const one = pickOf(prng, held, () => true)
  if (one === undefined) return
  const { providerPaymentId: item } = one
  const amount = model.items.get(item)?.amount ?? 0
  const figures = drawRow(
    play,
    'out',
    prng.pick([amount, Math.ceil(amount / 2), amount + 7]),
    'house',
  )
  const shown = { type: 'return', ...shownFigures(figures) } as const
  const row = settledRow({ ...one, reference: 'order 17' }, deps.now(), shown)
  rows.push({ row, of: { item }, figures })
  await read(deps, row)
  model.heldBack(item, row.transactionId, figures)
}

async function voidHeld({ prng, deps, model, held }: Play) {
  const one = pickOf(prng, held, ({ isVoid }) => isVoid !== true)
  if (one === undefined) return
  one.isVoid = true
  const row = one.ownRow ?? settledRow({ ...one, reference: 'order 17' }, deps.now())
  await read(deps, { ...row, status: 'reversed', keptMinor: undefined })
  model.heldVoid(one.providerPaymentId)
}

async function resolveHeld({ prng, deps, model }: Play) {
  const open = [...model.items].filter(
    ([, { own, isVoid, resolved, amount, back }]) =>
      own !== undefined &&
      !isVoid &&
      resolved === undefined &&
      [...back.values()].reduce((left, { took, again }) => left - took + again, amount) > 0,
  )
  const [suspenseId] = pickFrom(prng, open) ?? []
  if (suspenseId === undefined) return
  const resolution = prng.pick(['refunded_by_bank', 'written_off'] as const)
  const decision = { suspenseId, operator: OPERATOR, resolution, notes: 'by hand' }
  await withApproval(deps, () => resolveSuspense(deps, decision))
  model.resolve(suspenseId, resolution === 'refunded_by_bank')
}
