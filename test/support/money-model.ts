type Movement = {
  readonly type: 'refund' | 'chargeback' | 'dispute_won' | 'reversal'
  readonly transactionId: string
  readonly amountMinor: number
  readonly isOwnRow?: boolean | undefined
}

type Taken = { readonly id: string; readonly kind: string; taken: number; isVoid?: true }

/**
 * The money that remains of a payment, by the provider's rows (design section 10) and none of the
 * gateway's code.
 */
export function modelOf(gross: number, fee: number, markup: number) {
  const net = gross - fee - markup
  const applied = new Set<string>()
  const rows: Taken[] = []
  /** By won dispute: the amount that it returned of each row. */
  const wins = new Map<string, Map<Taken, number>>()
  let isVoid = false
  const total = () => rows.reduce((sum, row) => sum + row.taken, 0)
  const takes = (id: string, kind: string, amount: number) =>
    void rows.push({ id, kind, taken: isVoid ? 0 : Math.max(0, Math.min(amount, net - total())) })
  const wonBy = (id: string, amount: number) => {
    let left = isVoid ? 0 : amount
    const gave = new Map<Taken, number>()
    for (const one of rows) {
      if (one.kind === 'refund') continue
      gave.set(one, Math.min(one.taken, left))
      one.taken -= gave.get(one) ?? 0
      left -= gave.get(one) ?? 0
    }
    wins.set(id, gave)
  }
  const turn = (id: string) => {
    const own = rows.find((row) => row.id === id)
    if (own && !isVoid) Object.assign(own, { taken: 0, isVoid: true })
    for (const [one, back] of wins.get(id) ?? []) {
      if (!isVoid && !one.isVoid) one.taken += Math.max(0, Math.min(back, net - total()))
    }
  }
  return {
    apply: ({ type, transactionId: id, amountMinor, isOwnRow }: Movement) => {
      // An earlier reading of a voided row has no effect.
      if (applied.has(`${type} ${id}`) || applied.has(`reversal ${id}`)) return
      applied.add(`${type} ${id}`)
      if (type === 'refund' || type === 'chargeback') takes(id, type, amountMinor)
      else if (type === 'dispute_won') wonBy(id, amountMinor)
      else if (isOwnRow === true) isVoid = true
      else turn(id)
    },
    /** Gross, fee, markup and net. */
    figures: (): readonly [number, number, number, number] => {
      if (isVoid || (net > 0 && total() === net)) return [0, 0, 0, 0]
      return [gross - total(), fee, markup, net - total()]
    },
  }
}
