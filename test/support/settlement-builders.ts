import * as v from 'valibot'
import { chunks } from '../../shared/chunks.ts'
import type { Client } from '../../shared/client/client.ts'
import { type PaymentId, PaymentIdSchema } from '../../shared/ids.ts'
import { credit } from '../../shared/ledger/ledger-store.ts'
import { minor } from '../../shared/money.ts'
import { estimatePricing, netOf } from '../../shared/payment/channel/pricing.ts'
import { pointFromDestination } from '../../shared/payment/destination-store.ts'
import { putEvent } from '../../shared/payment/outbox-store.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { commitSucceeded, findStoredPayment } from '../../shared/payment/payment-store.ts'
import { pointFromReference } from '../../shared/payment/reference-store.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import { markSettlementFailed, markSettlementPaid } from '../../shared/settlement/close-settlement.ts'
import { recreditSettlement } from '../../shared/settlement/recredit-settlement.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { listSettlements } from '../../shared/settlement/settlement-store.ts'
import { triggerSettlement } from '../../shared/settlement/trigger-settlement.ts'
import { attributeName } from '../../shared/table/attributes.ts'
import { isNew } from '../../shared/table/condition.ts'
import { DUE_WORK_FIELDS } from '../../shared/table/due-work.ts'
import type { Step } from '../../shared/table/step.ts'
import { addMs, DAY_MS, MINUTE_MS, type Timestamp, TimestampSchema } from '../../shared/time.ts'
import { settledRow } from './fake-provider.ts'
import { aStoredClient } from './payment-builders.ts'
import type { TestDeps } from './test-deps.ts'

export const BANK = {
  bankName: 'BCA',
  bankAccountNo: '0012345678',
  bankAccountName: 'PT Warung Kopi Satu',
  since: v.parse(TimestampSchema, '2026-11-01T02:00:00.000Z'),
}

type SucceededFields = {
  readonly paymentId?: PaymentId
  readonly notionalMinor?: number
  /** By default what the tariff says: 4000 of a BCA virtual account. */
  readonly providerFeeMinor?: number
  /** `actual` by default. */
  readonly feeStatus?: Payment['feeStatus']
  readonly providerSettledAt?: Timestamp
  readonly externalReference?: string
}

/** A paid virtual account of BCA: by default 100,000 gross, 4,000 fee, 100 markup, 95,900 net, with its actual fee. */
export const succeededPayment = (
  client: Client,
  { paidAt, ...fields }: SucceededFields & { readonly paidAt: Timestamp },
): Payment => {
  const paymentId = fields.paymentId ?? v.parse(PaymentIdSchema, crypto.randomUUID())
  const createdAt = addMs(paidAt, -MINUTE_MS)
  const request = {
    method: 'virtual_account' as const,
    channelCode: 'BCA',
    notionalMinor: minor(fields.notionalMinor ?? 100_000),
  }
  const estimate = estimatePricing(request, createdAt)
  const providerFeeMinor = minor(fields.providerFeeMinor ?? estimate.providerFeeMinor)
  const feeStatus = fields.feeStatus ?? 'actual'
  return {
    ...request,
    paymentId,
    clientId: client.clientId,
    externalReference: fields.externalReference,
    attempt: 1,
    providerAttempts: [{ number: 1, startedAt: createdAt, outcome: 'created', paymentRequestId: `pr-${paymentId}` }],
    status: 'succeeded',
    providerFeeMinor,
    markupMinor: estimate.markupMinor,
    netMinor: netOf(request.notionalMinor, providerFeeMinor, estimate.markupMinor),
    feeStatus,
    ...(feeStatus !== 'estimated' && { finalFee: { status: feeStatus, feeMinor: providerFeeMinor, at: paidAt } }),
    currency: 'IDR',
    paymentDestination: '381652390000001',
    createdAt,
    paidAt,
    paymentRequestId: `pr-${paymentId}`,
    creditedProviderPaymentId: `py-${paymentId}`,
    providerSettledAt: fields.providerSettledAt,
    transitions: [
      { status: 'pending', at: createdAt, source: 'create' },
      { status: 'succeeded', at: paidAt, source: 'callback' },
    ],
  }
}

/** The outbox row as it is once its deliveries exist: no due work, which other tests of the same table would find. */
const announced = (step: Step | undefined): Step => {
  if (step?.kind !== 'put') throw new Error('a succeeded payment has an event')
  const due = DUE_WORK_FIELDS.map(attributeName)
  return { ...step, item: Object.fromEntries(Object.entries(step.item).filter(([name]) => !due.includes(name))) }
}

/** As many payments as fit one transaction beside their events and their pointers. */
const PAYMENTS_PER_TRANSACTION = 25

/** Payments that succeeded, each with its event and its credit, exactly as succeed-payment leaves them. */
export const storeSucceeded = async (deps: TestDeps, payments: readonly Payment[]): Promise<void> => {
  for (const some of chunks(payments, PAYMENTS_PER_TRANSACTION)) {
    const steps = some.flatMap((payment): readonly Step[] => {
      const firedAt = payment.paidAt ?? payment.createdAt
      const pointers = [pointFromDestination(payment), pointFromReference(payment)]
      return [
        { ...commitSucceeded(payment, firedAt), condition: isNew },
        announced(putEvent(payment, deps.newId(), firedAt)),
        ...pointers.filter((step) => step !== undefined),
      ]
    })
    const { applied } = await deps.table.transact(Object.fromEntries(steps.entries()))
    if (!applied) throw new Error('a payment is there already')
    // A transaction takes an item once, and there are fewer shards than payments.
    const credits = some.map((payment) =>
      credit({ ...payment, from: undefined }, payment.netMinor, payment.paidAt ?? payment.createdAt),
    )
    await Promise.all(credits.map((step) => deps.table.write(step)))
  }
}

/** One succeeded payment in the table; paid now unless `paidAt` says when. */
export const aSucceededPayment = async (
  deps: TestDeps,
  client: Client,
  fields: SucceededFields & { readonly paidAt?: Timestamp } = {},
): Promise<Payment> => {
  const payment = succeededPayment(client, { ...fields, paidAt: fields.paidAt ?? deps.now() })
  await storeSucceeded(deps, [payment])
  return payment
}

/** From here on what was paid until now is 24 hours old, to the millisecond. */
export const aDayLater = (deps: TestDeps): void => deps.clock.set(addMs(deps.now(), DAY_MS))

/** A client whose settlements have no floor, unless one is said. */
export const withFloor = (deps: TestDeps, floorMinor = 0, fields: Partial<Client> = {}): Promise<Client> =>
  aStoredClient(deps, { settlementFloorMinor: minor(floorMinor), ...fields })

/** The same gateway, reading histories in steps this small. */
export const inSteps = (deps: TestDeps, rows = 1, pages = 1): TestDeps => ({
  ...deps,
  stage: { ...deps.stage, historySteps: { rows, pages } },
})

/** One client's part of the daily sweep. */
export const settle = (deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) =>
  settleClient(deps, clientId, { by: 'auto' })

/** The settlements it records. */
export const sweep = async (deps: TestDeps, client: Pick<Client, 'clientId'>): Promise<readonly Settlement[]> =>
  (await settle(deps, client)).settlements

/** The last one of a sweep that must record one. */
export const sweptNow = async (deps: TestDeps, client: Pick<Client, 'clientId'>): Promise<Settlement> => {
  const settlement = (await sweep(deps, client)).at(-1)
  if (!settlement) throw new Error('nothing was settled')
  return settlement
}

/** A settled client: one settlement of the payments given, by default of one of 95,900 net. */
export const aSettledClient = async (
  deps: TestDeps,
  payments: readonly SucceededFields[] = [{}],
  fields: Partial<Client> = {},
): Promise<{ readonly client: Client; readonly settlement: Settlement }> => {
  const client = await withFloor(deps, 0, { bank: BANK, ...fields })
  await storeSucceeded(
    deps,
    payments.map((payment) => succeededPayment(client, { ...payment, paidAt: deps.now() })),
  )
  aDayLater(deps)
  return { client, settlement: await sweptNow(deps, client) }
}

export const BY_OPERATOR = { operator: 'sari@gateway.example', notes: 'as told by the bank' }

/** An operator has the client settled now. */
export const trigger = async (deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) =>
  (await triggerSettlement(deps, { clientId, operator: BY_OPERATOR.operator })).settlements

/** All settlements of a client, newest first. */
export const settlementsOf = (deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) =>
  listSettlements(deps, clientId, { page: 1, perPage: 100 })

type Known = Pick<Settlement, 'settlementId'>

export const payOut = (deps: TestDeps, { settlementId }: Known): Promise<Settlement> =>
  markSettlementPaid(deps, { settlementId, ...BY_OPERATOR, confirmUnfunded: true })
export const fail = (deps: TestDeps, { settlementId }: Known): Promise<Settlement> =>
  markSettlementFailed(deps, { settlementId, ...BY_OPERATOR })
export const recredit = (deps: TestDeps, { settlementId }: Known): Promise<Settlement> =>
  recreditSettlement(deps, { settlementId, ...BY_OPERATOR })

/** The provider's transaction for a payment's money: by default settled to us, with the tariff's fee kept. */
export const aTransaction = (
  payment: Payment,
  fields: { readonly keptMinor?: number; readonly settledAt?: Timestamp } = {},
): ProviderTransaction =>
  settledRow(
    { providerPaymentId: payment.creditedProviderPaymentId ?? '', reference: `${payment.paymentId}-1` },
    payment.createdAt,
    {
      paymentRequestId: payment.paymentRequestId,
      amountMinor: payment.notionalMinor,
      keptMinor: minor(fields.keptMinor ?? payment.providerFeeMinor),
      settledAt: fields.settledAt,
    },
  )

/** Fee, net and fee status as stored. */
export const feeOf = async (deps: TestDeps, { paymentId }: Payment) => {
  const stored = await findStoredPayment(deps, paymentId)
  return stored?.status === 'succeeded' ? [stored.providerFeeMinor, stored.netMinor, stored.feeStatus] : []
}
