import { minor } from '../../shared/money.ts'
import { resolveSuspense } from '../../shared/posting/resolve-suspense.ts'
import { recordSuspense } from '../../shared/suspense/record-suspense.ts'
import { settledRow } from '../support/fake-provider.ts'
import { someHeldMoney } from '../support/money-rows.ts'
import { OPERATOR } from '../support/operator-actions.ts'
import { withApproval } from '../support/with-approval.ts'
import { drawRow, type Play, pickFrom, pickOf, read, shownFigures } from './play.ts'

export async function hold({ prng, deps, model, held }: Play) {
  const amount = prng.pick([1, 5_000, 60_000])
  const providerPaymentId = `py-${crypto.randomUUID()}`
  await recordSuspense(deps, someHeldMoney(deps, providerPaymentId, amount))
  held.set(providerPaymentId, { providerPaymentId })
  model.hold(providerPaymentId, amount)
}

export async function settleHeld({ prng, deps, model, held }: Play) {
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

export async function giveHeldBack(play: Play) {
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

export async function voidHeld({ prng, deps, model, held }: Play) {
  const one = pickOf(prng, held, ({ isVoid }) => isVoid !== true)
  if (one === undefined) return
  one.isVoid = true
  const row = one.ownRow ?? settledRow({ ...one, reference: 'order 17' }, deps.now())
  await read(deps, { ...row, status: 'reversed', keptMinor: undefined })
  model.heldVoid(one.providerPaymentId)
}

export async function resolveHeld({ prng, deps, model }: Play) {
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
