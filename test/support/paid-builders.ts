import { chunks } from '../../shared/chunks.ts'
import type { Client } from '../../shared/client/client.ts'
import { keyDigestOf, paymentIdFor, slotOf } from '../../shared/ids.ts'
import { entryPages } from '../../shared/journal/read-entries.ts'
import { creditShard } from '../../shared/ledger/shard-store.ts'
import { minor, netOf, ZERO } from '../../shared/money.ts'
import { announcementOf } from '../../shared/payment/announcement.ts'
import { commitSucceeded, putPointers } from '../../shared/payment/creating-store.ts'
import { estimatePricing } from '../../shared/payment/new-payment.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { findStoredPayment } from '../../shared/payment/payment-store.ts'
import { type Posting, postPayments, type SettledRow } from '../../shared/posting/post-payments.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import { finding } from '../../shared/suspense/record-suspense.ts'
import { LEDGER_SHARDS } from '../../shared/table/schema.ts'
import { isNew, type Step } from '../../shared/table/step.ts'
import { addMs, MINUTE_MS, type Timestamp, timestampOf } from '../../shared/time.ts'
import { settledRow } from './fake-provider.ts'
import type { TestDeps } from './test-deps.ts'

export type SucceededFields = {
  readonly keyDigest?: string
  readonly notionalMinor?: number
  /** By default the tariff's fee: 4,000 for a BCA virtual account. */
  readonly providerFeeMinor?: number
  readonly externalReference?: string
  readonly providerSettledAt?: Timestamp
}

/**
 * A paid, open payment by a virtual account of BCA: by default 100,000 gross, 4,000 fee, 100
 * markup, 95,900 net.
 */
export function succeededPayment(
  client: Client,
  { paidAt, ...fields }: SucceededFields & { readonly paidAt: Timestamp },
): Payment {
  const keyDigest = fields.keyDigest ?? aKeyDigest()
  const paymentId = paymentIdFor(client.clientId, keyDigest)
  const createdAt = addMs(paidAt, -MINUTE_MS)
  const request = {
    method: 'virtual_account' as const,
    channelCode: 'BCA',
    notionalMinor: minor(fields.notionalMinor ?? 100_000),
  }
  const estimate = estimatePricing(request, createdAt)
  const providerFeeMinor = minor(fields.providerFeeMinor ?? estimate.providerFeeMinor)
  return {
    ...request,
    paymentId,
    clientId: client.clientId,
    keyDigest,
    provider: 'xendit',
    externalReference: fields.externalReference,
    attempt: 1,
    providerAttempts: [
      { number: 1, startedAt: createdAt, outcome: 'created', paymentRequestId: `pr-${paymentId}` },
    ],
    status: 'succeeded',
    providerFeeMinor,
    markupMinor: estimate.markupMinor,
    netMinor: netOf(request.notionalMinor, providerFeeMinor, estimate.markupMinor),
    feeStatus: 'estimated',
    currency: 'IDR',
    paymentDestination: '381652390000001',
    createdAt,
    paidAt,
    openAt: paidAt,
    paymentRequestId: `pr-${paymentId}`,
    capture: { providerPaymentId: `py-${paymentId}` },
    takenBackMinor: ZERO,
    movements: [],
    transitions: [
      { status: 'pending', at: createdAt, source: 'create' },
      { status: 'succeeded', at: paidAt, source: 'callback' },
    ],
  }
}

function aKeyDigest() {
  return keyDigestOf(crypto.randomUUID())
}

/** The digest's payment of the client has this shard. Equal numbers make equal digests. */
export function aDigestOfShard(
  { clientId }: Pick<Client, 'clientId'>,
  shard: number,
  number: number | string = crypto.randomUUID(),
) {
  for (let tried = 0; ; tried++) {
    const digest = keyDigestOf(`${number} ${tried}`)
    if (slotOf(paymentIdFor(clientId, digest), LEDGER_SHARDS) === shard) return digest
  }
}

/** The items are exactly those that succeed-payment writes. */
export async function storeOpen(deps: TestDeps, payments: readonly Payment[]) {
  // As many as fit one transaction beside their events and their pointers.
  for (const some of chunks(payments, 25)) {
    const steps = await Promise.all(
      some.map(async (payment): Promise<readonly Step[]> => {
        const firedAt = payment.paidAt ?? payment.createdAt
        const announced = await announcementOf(deps, payment)
        return [
          { ...commitSucceeded(payment, firedAt), condition: isNew },
          ...Object.values(announced.steps).filter((step) => step !== undefined),
          ...putPointers(payment),
        ]
      }),
    )
    const { applied } = await deps.table.transact(Object.fromEntries(steps.flat().entries()))
    if (!applied) throw new Error('a payment is there already')
    // Separate writes: several payments share a shard, and a transaction may contain an item once.
    const credits = some.map((payment) =>
      creditShard(
        { ...payment, from: undefined },
        payment.netMinor,
        payment.paidAt ?? payment.createdAt,
      ),
    )
    await Promise.all(credits.map((step) => deps.table.write(step)))
  }
}

type RowFields = {
  readonly feeMinor?: number | undefined
  readonly settledAt?: Timestamp | undefined
}

/** The fee is the estimated fee by default. */
export function settledRowFor(
  payment: Payment,
  {
    feeMinor = payment.providerFeeMinor,
    settledAt = payment.paidAt ?? payment.createdAt,
  }: RowFields = {},
): SettledRow {
  return {
    feeMinor: minor(feeMinor),
    transactionId: `txn_${payment.paymentId}`,
    providerMinor: minor(payment.notionalMinor - feeMinor),
    settledAt,
  }
}

/** The provider shows the capture and the row. */
export async function post(deps: TestDeps, payment: Payment, row: RowFields = {}) {
  const { feeMinor: keptMinor, ...settled } = settledRowFor(payment, row)
  const shown = { ...aTransaction(payment), ...settled, keptMinor }
  deps.provider.transactions.push(shown)
  const { paymentRequestId, notionalMinor: capturedMinor } = payment
  const captured = { paymentRequestId, status: 'captured', capturedMinor } as const
  deps.provider.payments.set(shown.providerPaymentId, { ...shown, ...captured })
  const [posted = payment] = await postedAll(deps, [
    { payment, by: { row: settledRowFor(payment, row) } },
  ])
  return posted
}

async function postedAll(deps: TestDeps, postings: readonly Posting[]) {
  const posted = (await postPayments(deps, postings)).flatMap((payment) => payment ?? [])
  if (posted.length !== postings.length) throw new Error('a payment was not posted')
  return posted
}

/** The fee is assumed, as if the row of the payment had not come in time. */
export async function postAssumed(deps: TestDeps, payment: Payment) {
  const assumed = finding({
    subject: payment.paymentId,
    cause: 'fee_assumed',
    payment,
    now: deps.now(),
  })
  const [posted = payment] = await postedAll(deps, [{ payment, by: { assumed } }])
  return posted
}

export async function anAssumedPayment(...[deps, ...given]: Parameters<typeof anOpenPayment>) {
  return postAssumed(deps, await anOpenPayment(deps, ...given))
}

/** The rows have the estimated fees. */
export async function storePosted(deps: TestDeps, payments: readonly Payment[]) {
  await storeOpen(deps, payments)
  return postedAll(
    deps,
    payments.map((payment) => ({ payment, by: { row: settledRowFor(payment, {}) } })),
  )
}

export async function anOpenPayment(
  deps: TestDeps,
  client: Client,
  fields: SucceededFields & { readonly paidAt?: Timestamp } = {},
) {
  const payment = succeededPayment(client, { ...fields, paidAt: fields.paidAt ?? deps.now() })
  await storeOpen(deps, [payment])
  return payment
}

/** The fee is the tariff's by default. */
export async function aSucceededPayment(
  deps: TestDeps,
  client: Client,
  {
    providerFeeMinor: feeMinor,
    providerSettledAt: settledAt,
    ...fields
  }: Parameters<typeof anOpenPayment>[2] = {},
) {
  return post(deps, await anOpenPayment(deps, client, fields), { feeMinor, settledAt })
}

/** The transaction is settled by default, with the payment's fee. */
export function aTransaction(
  payment: Payment,
  fields: { readonly keptMinor?: number; readonly settledAt?: Timestamp } = {},
): ProviderTransaction {
  return settledRow(
    {
      providerPaymentId: payment.capture?.providerPaymentId ?? '',
      reference: `${payment.paymentId}-1`,
    },
    payment.createdAt,
    {
      paymentRequestId: payment.paymentRequestId,
      amountMinor: payment.notionalMinor,
      keptMinor: minor(fields.keptMinor ?? payment.providerFeeMinor),
      settledAt: fields.settledAt ?? payment.paidAt ?? payment.createdAt,
    },
  )
}

export async function feeOf(deps: TestDeps, { paymentId }: Payment) {
  const stored = await findStoredPayment(deps, paymentId)
  return stored?.status === 'succeeded'
    ? [stored.providerFeeMinor, stored.netMinor, stored.feeStatus]
    : []
}

/** The entries are in the order of the journal. */
export async function entriesIn(deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) {
  const span = { start: timestampOf(0), end: timestampOf(Date.UTC(2100, 0)) }
  const range = { clientId, span }
  return (await Array.fromAsync(entryPages(deps, range))).flatMap(({ entries }) => entries)
}
