/** What entries add up to: of a payment, of held money and of a row of the house, by its state. */
export const ACCOUNTS = [
  ...(['provider', 'bank', 'transit', 'suspense'] as const),
  ...(['net', 'markup', 'cost', 'other'] as const),
]
export type Sums = Readonly<Record<(typeof ACCOUNTS)[number], number>>

export const NOTHING: Sums = {
  provider: 0,
  bank: 0,
  transit: 0,
  suspense: 0,
  net: 0,
  markup: 0,
  cost: 0,
  other: 0,
}

/** A row of the provider: its own net, its amount and its fee without sign. */
export type ModelRow = { readonly p: number; readonly a: number; readonly c: number }

type BackType = 'refund' | 'chargeback' | 'dispute_won'
export type Move =
  | (ModelRow & { readonly type: BackType; readonly id: string; readonly byBank?: boolean })
  | { readonly type: 'reversal'; readonly id: string }
  | { readonly type: 'void'; readonly id: string }

export type ModelPayment = {
  readonly client: string
  readonly gross: number
  fee: number
  readonly markup: number
  readonly invoiced: boolean
  isPosted: boolean
  isVoidedOpen: boolean
  /** What its own row moved, and whether the row contradicts itself. */
  own: { readonly p: number; readonly isOdd: boolean } | undefined
  moves: Move[]
}

export type ModelItem = {
  readonly amount: number
  own: number | undefined
  isVoid: boolean
  resolved: { readonly amount: number; readonly byBank: boolean } | undefined
  readonly back: Map<string, ModelRow & { readonly took: number; isUndone: boolean; again: number }>
}

export type HouseRow = ModelRow & {
  readonly type: 'unmatched' | 'topup' | 'withdrawal'
  taken: 'correction' | { readonly payment: string } | undefined
}

export function paymentSums(payment: ModelPayment) {
  const { gross, fee, markup, invoiced, isPosted, own, moves } = payment
  if (!isPosted) return NOTHING
  const isVoid = payment.isVoidedOpen || moves.some(({ type }) => type === 'void')
  const undone = new Set(moves.flatMap(({ type, id }) => (type === 'reversal' ? [id] : [])))
  const standing = moves.flatMap((move) =>
    move.type === 'reversal' || move.type === 'void' || undone.has(move.id) ? [] : [move],
  )
  const total = (types: readonly BackType[], of: (move: (typeof standing)[number]) => number) =>
    standing.filter(({ type }) => types.includes(type)).reduce((sum, one) => sum + of(one), 0)
  const [out, won] = [['refund', 'chargeback'] as const, ['dispute_won'] as const]
  const disputed = total(['chargeback'], ({ a }) => a) - total(won, ({ a }) => a)
  const back = total(['refund'], ({ a }) => a) + Math.max(0, disputed)
  const net = gross - fee - markup
  const taken = Math.max(0, Math.min(net, back))
  const amounts = total(out, ({ a }) => a) - total(won, ({ a }) => a)
  const fees = total([...out, ...won], ({ c }) => c)
  const byBank = total(out, (one) => (one.byBank ? one.a : 0))
  const odd =
    total(out, (one) => (one.byBank ? 0 : one.p + one.a + one.c)) +
    total(won, ({ p, a, c }) => p - a + c)
  const moved = total([...out, ...won], (one) => (one.byBank ? 0 : one.p))
  const due = invoiced ? gross : gross - fee
  if (isVoid)
    return { ...NOTHING, provider: moved, bank: -byBank, cost: -amounts - fees, other: odd }
  const left = net > 0 && taken === net ? 0 : markup
  const gap = own ? own.p - due : 0
  return {
    provider: moved + (own?.p ?? 0),
    bank: -byBank,
    transit: own ? gross - fee - due : gross - fee,
    suspense: 0,
    net: net - taken,
    markup: left,
    cost: (own?.isOdd ? 0 : gap) - fees - (amounts - taken) + markup - left,
    other: odd + (own?.isOdd ? gap : 0),
  }
}

export function itemSums(item: ModelItem) {
  const { amount, own, isVoid, resolved, back } = item
  const standing = [...back.values()].filter(({ isUndone }) => !isUndone)
  const total = (of: (row: ModelRow) => number) => standing.reduce((sum, row) => sum + of(row), 0)
  const refunded = refundedOf(item)
  const isClosed = isVoid || resolved !== undefined
  const held = own === undefined ? 0 : amount
  const provider = total(({ p }) => p) + (isVoid ? 0 : (own ?? 0))
  const bank = resolved?.byBank ? -resolved.amount : 0
  const suspense = isClosed ? 0 : held - refunded
  const writtenOff = resolved && !resolved.byBank ? resolved.amount : 0
  const other = total(({ p, a, c }) => p + a + c) + writtenOff
  // The fee of the row that stands, the fees of what went back, and what nobody else bears.
  const lost = total(({ a }) => a) - refunded + (isVoid ? refunded + (resolved?.amount ?? 0) : 0)
  const kept = isVoid || own === undefined ? 0 : amount - own
  return { ...NOTHING, provider, bank, suspense, cost: -kept - total(({ c }) => c) - lost, other }
}

export function refundedOf({ back }: ModelItem) {
  return [...back.values()].reduce((sum, { took, again }) => sum + took - again, 0)
}

export function houseSums(type: HouseRow['type'], { p, a, c }: ModelRow) {
  if (type === 'unmatched') return { ...NOTHING, provider: p, other: p }
  const isIn = type === 'topup'
  return {
    ...NOTHING,
    provider: p,
    bank: isIn ? -a : a,
    cost: -c,
    other: isIn ? p - (a - c) : p + a + c,
  }
}

export function less(a: Sums, b: Sums): Sums {
  const names = ACCOUNTS.map((name) => [name, a[name] - b[name]] as const)
  return { ...NOTHING, ...Object.fromEntries(names) }
}
