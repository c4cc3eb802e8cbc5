import { minor, ZERO } from '../../shared/money.ts'
import { movePayment } from '../../shared/posting/move-payment.ts'
import { addMs, DAY_MS, epochMs } from '../../shared/time.ts'
import { settledRow } from '../support/fake-provider.ts'
import { creditedPayment, paymentOf } from '../support/synced-payment.ts'
import { drawRow, type Play, pickFrom, pickOf, postOverdue, read, shownFigures } from './play.ts'

export async function pay({ prng, deps, model, clients, paid, isInvoiced }: Play) {
  const client = prng.pick(clients)
  const gross = prng.pick([1, 3_999, 4_004, 4_500, 10_000, 50_000, 100_000, 250_000])
  const one = await creditedPayment(deps, client, { notionalMinor: minor(gross) })
  const { paymentId: id, providerFeeMinor: fee, markupMinor: markup } = one.payment
  paid.set(id, { ...one, paidAtMs: epochMs(deps.now()) })
  model.pay(id, { client: client.clientId, gross, fee, markup, invoiced: isInvoiced })
}

export async function settleOwnRow({ prng, deps, model, paid, ...play }: Play) {
  const { isInvoiced, odd, contradicted } = play
  const one = pickOf(prng, paid, ({ ownRow, isVoid }) => ownRow === undefined && isVoid !== true)
  if (one === undefined) return
  const { paymentId: id, notionalMinor: gross } = one.payment
  const isOdd = prng.chance(1 / 8)
  const usual = isInvoiced ? prng.pick([0, 0, 0, 4_000]) : prng.pick([4_000, 4_000, 4_440, 0])
  const amount = isOdd ? gross + prng.pick([-1, 1, 500, 0]) : gross
  const kept = isOdd && amount === gross ? 44_000 : usual
  const p = amount - kept
  const figures = { amountMinor: minor(amount), keptMinor: minor(kept), providerMinor: minor(p) }
  one.ownRow = settledRow(one, deps.now(), figures)
  if (isOdd) {
    odd.set(id, p)
    contradicted.add(one.payment.clientId)
    deps.provider.transactions.push(one.ownRow)
  }
  await read(deps, one.ownRow, one)
  const { isPosted, own } = model.payments.get(id) ?? {}
  if (!isPosted && !isOdd) model.post(id, { p, isOdd })
  else if (isPosted && own === undefined) model.lateRow(id, { p, isOdd })
}

/** The row may be read before its chargeback, and may contradict itself. */
export async function takeBack(play: Play) {
  const { prng, deps, model, paid, rows } = play
  const one = pickOf(prng, paid, () => true)
  if (one === undefined) return
  const { paymentId, notionalMinor: gross } = one.payment
  const type = prng.pick(['refund', 'refund', 'chargeback', 'chargeback', 'dispute_won'] as const)
  const a = prng.pick([gross, gross, Math.ceil(gross / 2), Math.ceil(gross / 3), 90_000])
  const figures = drawRow(play, type === 'dispute_won' ? 'in' : 'out', a, one.payment.clientId)
  const disputed = { amountMinor: minor(a + figures.c), disputedMinor: minor(a) }
  const row = settledRow(one, addMs(deps.now(), -3 * DAY_MS), {
    type: type === 'dispute_won' ? 'correction' : 'return',
    ...(type === 'dispute_won' && { isDisputeWon: true }),
    ...(type === 'chargeback' && { reversalKind: 'chargeback' }),
    ...shownFigures(figures),
    ...(type === 'chargeback' && disputed),
  })
  rows.push({ row, of: { payment: paymentId }, figures })
  await read(deps, row, one)
  model.move(paymentId, { type, id: row.transactionId, ...figures })
}

export async function undo({ prng, deps, model, paid, rows }: Play) {
  const shown = pickFrom(
    prng,
    rows.filter(({ isUndone }) => isUndone !== true),
  )
  if (shown === undefined) return
  shown.isUndone = true
  const status = shown.of === 'house' && prng.chance(1 / 2) ? 'failed' : 'reversed'
  const row = { ...shown.row, status, updatedAt: deps.now() } as const
  const { transactionId: id } = row
  const { of } = shown
  await read(deps, row, of !== 'house' && 'payment' in of ? paid.get(of.payment) : undefined)
  if (of === 'house') model.houseVoid(id)
  else if ('item' in of) model.heldBackVoid(of.item, id)
  else model.move(of.payment, { type: 'reversal', id })
}

export async function voidOwnRow({ prng, deps, model, paid }: Play) {
  const one = pickOf(prng, paid, ({ isVoid }) => isVoid !== true)
  if (one === undefined) return
  one.isVoid = true
  const row = one.ownRow ?? settledRow(one, deps.now(), { amountMinor: one.payment.notionalMinor })
  await read(deps, { ...row, status: 'reversed', keptMinor: undefined }, one)
  model.move(one.payment.paymentId, { type: 'void', id: row.transactionId })
}

export async function aWeekLater(play: Play) {
  play.deps.clock.advance(8 * 86_400)
  play.model.setTime(epochMs(play.deps.now()))
  for (const client of play.clients) await postOverdue(play, client)
}

export async function refundByBank({ prng, deps, model, paid }: Play) {
  const one = pickOf(prng, paid, ({ isVoid }) => isVoid !== true)
  if (one === undefined) return
  const { paymentId, notionalMinor } = one.payment
  const a = prng.pick([notionalMinor, Math.ceil(notionalMinor / 2)])
  const transactionId = `bank:${crypto.randomUUID()}`
  const row = { transactionId, amountMinor: minor(a), providerMinor: ZERO, at: deps.now() }
  const payment = await paymentOf(deps, one)
  await movePayment(deps, payment, { type: 'refund', isByBank: true, ...row })
  model.move(paymentId, { type: 'refund', id: transactionId, a, c: 0, p: 0, byBank: true })
}
