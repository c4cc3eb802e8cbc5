type HeardRow = {
  readonly type: 'refund' | 'chargeback' | 'dispute_won' | 'reversal'
  readonly transactionId: string
  readonly amountMinor: number
  readonly isOwnRow?: boolean | undefined
}

/** What the model knows of a row that took money: its kind, and what of it is still gone. */
type Gone = { readonly id: string; readonly kind: string; gone: number; readonly won?: number }

/** The money that remains of a payment, by the provider's rows (design section 10) and none of the gateway's code. */
export const modelOf = (gross: number, fee: number, markup: number) => {
  const net = gross - fee - markup
  const heard = new Set<string>()
  const gone: Gone[] = []
  const wins = new Map<string, number>()
  let isVoid = false
  const taken = () => gone.reduce((sum, one) => sum + one.gone, 0)
  const takes = (id: string, kind: string, amount: number) =>
    void gone.push({ id, kind, gone: isVoid ? 0 : Math.max(0, Math.min(amount, net - taken())) })
  const wonBy = (id: string, amount: number) => {
    let left = isVoid ? 0 : amount
    for (const one of gone) {
      if (one.kind === 'refund') continue
      const back = Math.min(one.gone, left)
      one.gone -= back
      left -= back
    }
    wins.set(id, isVoid ? 0 : amount - left)
  }
  const turn = (id: string) => {
    const own = gone.find((one) => one.id === id)
    if (wins.has(id) && own === undefined) return takes(id, 'again', wins.get(id) ?? 0)
    if (own && !isVoid) own.gone = 0
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
