type Movement = {
  readonly type: 'refund' | 'chargeback' | 'dispute_won' | 'reversal'
  readonly transactionId: string
  readonly amountMinor: number
  readonly isOwnRow?: boolean | undefined
}

/**
 * The money that remains of a payment, by the provider's rows that stand (design section 10) and
 * none of the gateway's code.
 */
export function modelOf(gross: number, fee: number, markup: number) {
  const net = gross - fee - markup
  const seen = new Map<string, Movement>()
  const undone = new Set<string>()
  let isVoid = false
  const total = (type: Movement['type']) =>
    [...seen.values()].reduce(
      (sum, row) =>
        sum + (row.type === type && !undone.has(row.transactionId) ? row.amountMinor : 0),
      0,
    )
  const back = () => total('refund') + Math.max(0, total('chargeback') - total('dispute_won'))
  return {
    apply: (row: Movement) => {
      const key = `${row.type} ${row.transactionId}`
      // An earlier reading of a voided row has no effect.
      if (row.isOwnRow === true) isVoid = true
      else if (row.type === 'reversal') undone.add(row.transactionId)
      else if (!seen.has(key)) seen.set(key, row)
    },
    /** Gross, fee, markup and net. */
    figures: (): readonly [number, number, number, number] => {
      const taken = Math.max(0, Math.min(net, back()))
      if (isVoid || (net > 0 && taken === net)) return [0, 0, 0, 0]
      return [gross - taken, fee, markup, net - taken]
    },
    /** The public reversed amount. */
    reversed: () => (isVoid ? gross : Math.min(gross, back())),
  }
}
