import type { Seen } from '../../support/recount/books.ts'
import type { Answered } from './hostile-provider.ts'

/** For invariants that read only the books. */
export const SEEN_NOTHING: Seen = {
  webhooks: [],
  secretOfUrl: new Map(),
  captured: new Map(),
  turned: [],
  bookedBack: [],
  endpointsOfClient: new Map(),
  destinationsOfKey: new Map(),
  paymentsOfKey: new Map(),
  logLines: [],
  digestBlock: 1_000,
  confidential: [],
}

type Fields = Readonly<Record<string, unknown>>

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const number = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

/** The sum of a payment's captures; undefined if the answer proves no money. */
const capturedBy = ({ kind, status, json }: Answered): number | undefined => {
  const { status: state, captures } = fields(json)
  if (kind !== 'payment' || status !== 200 || state !== 'SUCCEEDED') return undefined
  if (!Array.isArray(captures) || captures.length === 0) return undefined
  return captures.reduce<number>((sum, capture) => sum + number(fields(capture)['capture_amount']), 0)
}

type About = { readonly paymentId: string; readonly paymentRequestId: string; readonly amount: number }

const names = ({ json }: Answered, paymentId: string): boolean =>
  text(fields(json)['reference_id']).startsWith(`${paymentId}-`)

/** The rows of a page that say that exactly the amount was received, in rupiah. */
const rowsOfCaptures = ({ kind, status, json }: Answered, amount: number): readonly Fields[] => {
  const { data } = fields(json)
  if (kind !== 'transactions' || status !== 200 || !Array.isArray(data)) return []
  return data
    .map(fields)
    .filter((row) => row['type'] === 'PAYMENT' && row['status'] === 'SUCCESS' && row['currency'] === 'IDR')
    .filter((row) => Math.floor(number(row['amount'])) === amount)
}

/** The provider said, in the payment or in its row, that exactly the amount was received for it, in rupiah. */
export const isFullCapture = (answer: Answered, { paymentId, amount }: About): boolean =>
  (names(answer, paymentId) &&
    fields(answer.json)['currency'] === 'IDR' &&
    Math.floor(capturedBy(answer) ?? Number.NaN) === amount) ||
  rowsOfCaptures(answer, amount).some(
    ({ product_id, reference_id }) => text(product_id).startsWith('py-') && reference_id === `${paymentId}-1`,
  )

/** The provider said that something else was received on the payment's own request. */
export const isWrongCapture = (answer: Answered, about: About): boolean =>
  names(answer, about.paymentId) &&
  fields(answer.json)['payment_request_id'] === about.paymentRequestId &&
  capturedBy(answer) !== undefined &&
  !isFullCapture(answer, about)

/** The provider said that the payment's own request ended without money. */
export const isFinalEnd = (answer: Answered, { paymentId, paymentRequestId }: About): boolean => {
  const { payment_request_id: id, id: otherName, status } = fields(answer.json)
  return (
    answer.kind === 'request' &&
    answer.status === 200 &&
    names(answer, paymentId) &&
    (id ?? otherName) === paymentRequestId &&
    ['FAILED', 'EXPIRED', 'CANCELED'].includes(text(status))
  )
}

type Fee = { readonly creditedProviderPaymentId: string; readonly amount: number; readonly kept: number }

/** The provider said, in a settled row of this payment, that it kept exactly this fee. */
export const isSettledFee = (answer: Answered, { creditedProviderPaymentId, amount, kept }: Fee): boolean =>
  rowsOfCaptures(answer, amount).some((row) => {
    const state = text(fields(row['fee'])['status'])
    return (
      row['product_id'] === creditedProviderPaymentId &&
      ['SETTLED', 'EARLY_SETTLED'].includes(text(row['settlement_status'])) &&
      !['', 'PENDING', 'CANCELED', 'REVERSED'].includes(state) &&
      Math.ceil(number(row['amount']) - number(row['net_amount'])) === kept
    )
  })
