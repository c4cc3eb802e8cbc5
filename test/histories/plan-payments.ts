/** The first create with this key makes the payment. */
export type PlannedPayment = {
  readonly key: string
  readonly amount: number
  readonly body: object
  /** All other payments are cancelled, fail or expire. */
  readonly isPayable: boolean
}

export type Client = {
  readonly id: string
  readonly apiKey: string
  readonly planned: readonly PlannedPayment[]
}

const WALLETS = ['DANA', 'LINKAJA', 'SHOPEEPAY', 'GOPAY']
/** The most that each wallet, and QRIS, takes of one payment. */
const MOST_OF_WALLET = 20_000_000
/** Banks that take the largest amount. */
const LARGE_BANKS = ['BRI', 'MANDIRI', 'PERMATA']
const BANKS = ['BCA', 'BNI', 'MANDIRI']

const MIN_AMOUNT = 50_000
/**
 * Each amount is above the sum of all smaller ones, whatever their bodies and fees: a sum says
 * which payments it holds.
 */
const RATIO = 2.2
/** Bodies of one key differ by so much at most. */
const MOST_ADDED = 2_000
const PAYABLE = 15
const OTHERS = 5
/** A payment with this lifetime expires during a history, because the clock jumps. */
const SHORT_SECONDS = 60

export function planPayments() {
  return Array.from({ length: PAYABLE + OTHERS }, (_, n) => {
    const key = `key-${n}`
    const others = Math.floor((n + 1) / 4)
    if (n % 4 === 3) {
      const channel = {
        method: 'virtual_account',
        channel_code: BANKS[others % BANKS.length],
        currency: 'IDR',
      }
      const expiry = others % 2 === 0 ? {} : { expires_in_seconds: SHORT_SECONDS }
      return { key, amount: 20_000 + others, body: { ...channel, ...expiry }, isPayable: false }
    }
    const amount = Math.round(MIN_AMOUNT * RATIO ** (n - others))
    const body = { ...channelFor(amount, n - others), currency: 'IDR' }
    return { key, amount, body, isPayable: true }
  })
}

function channelFor(amount: number, n: number) {
  if (amount + MOST_ADDED > MOST_OF_WALLET) {
    return { method: 'virtual_account', channel_code: LARGE_BANKS[n % LARGE_BANKS.length] }
  }
  const channel_code = WALLETS[n % (WALLETS.length + 1)]
  return channel_code === undefined ? { method: 'qris' } : { method: 'ewallet', channel_code }
}

/** The answer shows which create made the payment. */
export function bodyOf({ key, amount }: PlannedPayment, number: number) {
  return { reference: `${key}-${number}`, amount: amount + (number % 3) * (MOST_ADDED / 2) }
}
