import {
  type HouseRow,
  houseSums,
  itemSums,
  less,
  type ModelItem,
  type ModelPayment,
  type ModelRow,
  type Move,
  NOTHING,
  paymentSums,
  refundedOf,
  type Sums,
} from './sums-by-state.ts'

/**
 * The journal as design section 12 says it, in plain numbers and without any of the gateway's code:
 * what the entries of a payment or of held money add up to is a closed form of its state, and an
 * entry is the difference that one event makes.
 */
type ModelEntry = {
  readonly owner: string
  readonly type: string
  readonly at: number
  readonly sums: Sums
}

export function journalModel() {
  const entries: ModelEntry[] = []
  const payments = new Map<string, ModelPayment>()
  const items = new Map<string, ModelItem>()
  const rows = new Map<string, HouseRow>()
  const writtenOff = new Map<string, number>()
  let now = 0

  function write(owner: string, type: string, sums: Partial<Sums>) {
    entries.push({ owner, type, at: now, sums: { ...NOTHING, ...sums } })
  }

  function change(payment: ModelPayment, type: string, make: () => void) {
    const before = paymentSums(payment)
    make()
    const made = less(paymentSums(payment), before)
    write(payment.client, type, made)
    return made
  }

  function moveOn(payment: ModelPayment, move: Move) {
    const { moves } = payment
    if (moves.some((one) => one.id === move.id && isSettledBy(one, move))) return
    if (!payment.isPosted && move.type !== 'void') return void moves.push(move)
    if (!payment.isPosted) {
      // Rows that were noted, and the void itself, are written with zeros for the client.
      payment.moves = []
      Object.assign(payment, { isPosted: true, isVoidedOpen: true })
      for (const one of [...moves, move])
        change(payment, nameOf(one), () => void payment.moves.push(one))
      return
    }
    const { net } = change(payment, nameOf(move), () => void moves.push(move))
    const claw = Math.max(0, Math.min(net, writtenOff.get(payment.client) ?? 0))
    if (claw > 0) writeOff(payment.client, -claw)
  }

  function writeOff(client: string, amount: number) {
    writtenOff.set(client, (writtenOff.get(client) ?? 0) + amount)
    write(client, 'written_off', { net: amount, cost: -amount })
  }

  function changeItem(item: ModelItem, type: string, make: () => void) {
    const before = itemSums(item)
    make()
    write('house', type, less(itemSums(item), before))
  }

  return {
    entries,
    payments,
    items,
    rows,
    writtenOff,
    /** The nets of the payments that are credited and not posted, less what was taken back. */
    openNet: (client: string | undefined) =>
      [...payments.values()]
        .filter((one) => !one.isPosted && (client ?? one.client) === one.client)
        .reduce((sum, one) => sum + paymentSums({ ...one, isPosted: true }).net, 0),
    setTime: (at: number) => void (now = at),
    pay: (id: string, price: Omit<ModelPayment, 'isPosted' | 'isVoidedOpen' | 'own' | 'moves'>) =>
      void payments.set(id, {
        ...price,
        isPosted: false,
        isVoidedOpen: false,
        own: undefined,
        moves: [],
      }),
    /** By its own row, by its own row that contradicts itself, or without a row. */
    post: (id: string, own: ModelPayment['own']) => {
      const payment = known(payments, id)
      const { moves } = payment
      if (own && !own.isOdd && !payment.invoiced) payment.fee = payment.gross - own.p
      payment.moves = []
      change(payment, 'payment', () => void Object.assign(payment, { isPosted: true, own }))
      for (const move of moves) change(payment, nameOf(move), () => void payment.moves.push(move))
    },
    lateRow: (id: string, own: NonNullable<ModelPayment['own']>) => {
      const payment = known(payments, id)
      change(payment, 'late_row', () => void (payment.own = own))
    },
    move: (id: string, move: Move) => moveOn(known(payments, id), move),
    hold: (id: string, amount: number) =>
      void items.set(id, {
        amount,
        own: undefined,
        isVoid: false,
        resolved: undefined,
        back: new Map(),
      }),
    heldRow: (id: string, p: number) => {
      const item = known(items, id)
      if (!item.isVoid && item.own === undefined)
        changeItem(item, 'suspense', () => void (item.own = p))
    },
    heldBack: (id: string, rowId: string, row: ModelRow) => {
      const item = known(items, id)
      const isOpen = !item.isVoid && item.resolved === undefined
      const took = isOpen ? Math.min(row.a, item.amount - refundedOf(item)) : 0
      changeItem(item, 'suspense_refunded', () =>
        item.back.set(rowId, { ...row, took, isUndone: false, again: 0 }),
      )
    },
    heldBackVoid: (id: string, rowId: string) => {
      const item = known(items, id)
      const row = known(item.back, rowId)
      const again = item.isVoid || item.resolved !== undefined ? 0 : row.took
      changeItem(item, 'reversal', () => void Object.assign(row, { isUndone: true, again }))
    },
    heldVoid: (id: string) => {
      const item = known(items, id)
      if (!item.isVoid) changeItem(item, 'suspense_refunded', () => void (item.isVoid = true))
    },
    resolve: (id: string, byBank: boolean) => {
      const item = known(items, id)
      const amount = itemSums(item).suspense
      changeItem(item, 'suspense_resolved', () => void (item.resolved = { amount, byBank }))
    },
    houseRow: (id: string, type: HouseRow['type'], row: ModelRow) => {
      rows.set(id, { ...row, type, taken: undefined })
      write('house', type, houseSums(type, row))
    },
    houseVoid: (id: string) => {
      const row = known(rows, id)
      if (typeof row.taken === 'object')
        return moveOn(known(payments, row.taken.payment), { type: 'reversal', id })
      const legs = houseSums(row.taken ? 'unmatched' : row.type, row)
      write('house', 'reversal', less(NOTHING, legs))
    },
    takeOver: (id: string, by: NonNullable<HouseRow['taken']>) => {
      const row = known(rows, id)
      row.taken = by
      write('house', 'correction', less(NOTHING, houseSums(row.type, row)))
    },
    adjust: (
      client: string,
      kind: 'recovered' | 'returned' | 'written_off' | 'correction',
      amount: number,
      p = 0,
    ) => {
      if (kind === 'written_off') return writeOff(client, amount)
      if (kind === 'correction')
        return write(client, kind, { net: amount, provider: p, other: p - amount })
      return write(client, kind, { net: amount, bank: amount })
    },
    adjustHouse: (legs: Partial<Sums>) => write('house', 'adjustment', legs),
    recredit: (client: string) => write(client, 'recredit', {}),
    payOut: (client: string, net: number) => write(client, 'payout', { bank: -net, net: -net }),
  }
}

function known<T>(things: ReadonlyMap<string, T>, id: string) {
  const thing = things.get(id)
  if (thing === undefined) throw new Error(`the model does not know ${id}`)
  return thing
}

function nameOf({ type }: Move) {
  return type === 'void' ? 'reversal' : type
}

/** The same row again, or an older reading of one that is void. */
function isSettledBy(earlier: Move, move: Move) {
  return earlier.type === move.type || earlier.type === 'reversal'
}
