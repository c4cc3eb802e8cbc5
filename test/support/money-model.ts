type HeardRow = {
  readonly type: 'refund' | 'chargeback' | 'dispute_won' | 'reversal'
  readonly transactionId: string
  readonly amountMinor: number
  readonly isOwnRow?: boolean | undefined
}

/** What the model knows of a row that took money: its kind, and what of it is still gone. */
type Gone = { readonly id: string; readonly kind: string; gone: number; isVoid?: true }

/** The money that remains of a payment, by the provider's rows (design section 10) and none of the gateway's code. */
export const modelOf = (gross: number, fee: number, markup: number) => {
  const net = gross - fee - markup
  const heard = new Set<string>()
  const gone: Gone[] = []
  /** What each won dispute gave back of which rows. */
  const wins = new Map<string, Map<Gone, number>>()
  let isVoid = false
  const taken = () => gone.reduce((sum, one) => sum + one.gone, 0)
  const takes = (id: string, kind: string, amount: number) =>
    void gone.push({ id, kind, gone: isVoid ? 0 : Math.max(0, Math.min(amount, net - taken())) })
  const wonBy = (id: string, amount: number) => {
    let left = isVoid ? 0 : amount
    const gave = new Map<Gone, number>()
    for (const one of gone) {
      if (one.kind === 'refund') continue
      gave.set(one, Math.min(one.gone, left))
      one.gone -= gave.get(one) ?? 0
      left -= gave.get(one) ?? 0
    }
    wins.set(id, gave)
  }
  const turn = (id: string) => {
    const own = gone.find((one) => one.id === id)
    if (own && !isVoid) Object.assign(own, { gone: 0, isVoid: true })
    for (const [one, back] of wins.get(id) ?? []) {
      if (!isVoid && !one.isVoid) one.gone += Math.max(0, Math.min(back, net - taken()))
    }
  }
  return {
    hear: ({ type, transactionId: id, amountMinor, isOwnRow }: HeardRow) => {
      // An older reading of a row that is void by now says nothing.
      if (heard.has(`${type} ${id}`) || heard.has(`reversal ${id}`)) return
      heard.add(`${type} ${id}`)
      if (type === 'refund' || type === 'chargeback') takes(id, type, amountMinor)
      else if (type === 'dispute_won') wonBy(id, amountMinor)
      else if (isOwnRow === true) isVoid = true
      else turn(id)
    },
    /** Gross, fee, markup and net. */
    stands: (): readonly [number, number, number, number] => {
      if (isVoid || (net > 0 && taken() === net)) return [0, 0, 0, 0]
      return [gross - taken(), fee, markup, net - taken()]
    },
  }
}
