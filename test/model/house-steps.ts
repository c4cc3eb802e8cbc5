import { findUnclaimedRow, takeOverRow } from '../../shared/journal/house-store.ts'
import { prepareMovement } from '../../shared/posting/move-payment.ts'
import type { Steps } from '../../shared/table/table.ts'
import { settledRow } from '../support/fake-provider.ts'
import { adjustBalance } from '../support/money-rows.ts'
import { invokeAdmin, OPERATOR } from '../support/operator-actions.ts'
import { paymentOf } from '../support/synced-payment.ts'
import { drawRow, type Play, pickFrom, pickOf, read, shownFigures } from './play.ts'
import { type Sums } from './sums-by-state.ts'

export async function bookHouse(play: Play) {
  const { prng, deps, model, rows } = play
  const type = prng.pick(['unmatched', 'topup', 'withdrawal'] as const)
  const direction = type === 'topup' || prng.chance(1 / 4) ? 'in' : 'out'
  const figures = drawRow(
    play,
    type === 'withdrawal' ? 'out' : direction,
    prng.pick([1_000, 40_000]),
    type === 'unmatched' ? undefined : 'house',
  )
  const shown = { type: 'account', ...shownFigures(figures) } as const
  const payout =
    type === 'withdrawal' && figures.p < 0 ? pickFrom(prng, play.settlements) : undefined
  const transfer = type === 'unmatched' || payout ? {} : { transfer: type }
  // The provider's own template names the settlement: the row is booked as a withdrawal.
  const reference = payout?.settlement.settlementId ?? 'the account'
  const about = { providerPaymentId: '', reference }
  const row = settledRow(about, deps.now(), { ...shown, ...transfer })
  rows.push({ row, of: 'house', figures })
  await read(deps, row)
  model.houseRow(row.transactionId, type, figures)
}

export async function correctByRow(play: Play) {
  const shown = openHouseRow(play)
  if (shown === undefined) return
  const { deps, model, prng } = play
  const client = prng.pick(play.clients)
  const { transactionId } = shown.row
  const amount = prng.pick([shown.figures.p || 5, -700])
  await adjustBalance(deps, client, 'correction', amount, undefined, transactionId)
  model.takeOver(transactionId, 'correction')
  model.adjust(client.clientId, 'correction', amount, shown.figures.p)
}

/** A row that an operator may take over. */
function openHouseRow({ prng, model, rows }: Play) {
  return pickFrom(
    prng,
    rows.filter(
      ({ row, of, isUndone }) =>
        of === 'house' && !isUndone && model.rows.get(row.transactionId)?.taken === undefined,
    ),
  )
}

export async function refundByRow(play: Play) {
  const { prng, deps, model, paid } = play
  const shown = openHouseRow(play)
  const one = pickOf(prng, paid, ({ isVoid }) => isVoid !== true)
  if (shown === undefined || one === undefined || shown.figures.p >= 0) return
  const { transactionId } = shown.row
  const { paymentId, clientId } = one.payment
  const entry = await findUnclaimedRow(deps, transactionId)
  if (entry === undefined) throw new Error(`${transactionId} is not booked`)
  const now = deps.now()
  const { amountMinor, feeMinor, providerMinor } = shown.row
  const row = { transactionId, amountMinor, providerMinor, feeMinor, at: now } as const
  const payment = await paymentOf(deps, one)
  const movement = await prepareMovement(deps, payment, { type: 'refund', ...row }, now)
  if (movement === undefined) throw new Error(`${transactionId} has moved the payment before`)
  const taken = takeOverRow(entry, { postedAt: now, clientId, paymentId })
  const steps: Steps<string> = { ...movement.steps, ...taken }
  const { applied } = await deps.table.transact<string>(steps, movement.freshUntil)
  if (!applied) throw new Error(`${transactionId} was not taken over`)
  await movement.report()
  const { p, a, c } = shown.figures
  if (p !== -(a + c)) play.contradicted.add(clientId)
  model.takeOver(transactionId, { payment: paymentId })
  model.move(paymentId, { type: 'refund', id: transactionId, ...shown.figures })
}

export async function adjustHouse({ prng, deps, model }: Play) {
  const legs = prng.pick([
    { bank: -6_500, cost: -6_500 },
    { bank: 300, other: 300 },
    { bank: -12_000, transit: 11_700, cost: -300 },
  ])
  const sides = Object.fromEntries(
    (['bank', 'transit', 'cost', 'other'] as const).map((name) => [
      `${name}_minor`,
      (legs as Partial<Sums>)[name] ?? 0,
    ]),
  )
  const input = { operator: OPERATOR, reference: crypto.randomUUID(), notes: 'invoice', ...sides }
  const { status, body } = await invokeAdmin('adjust-house', deps, input)
  if (status !== 200) throw new Error(`adjust-house answers ${JSON.stringify(body)}`)
  model.adjustHouse(legs)
}
