import { assertInvariant } from '../../errors.ts'
import { bpsFloor, less, type Minor, minor, plus } from '../../money.ts'
import type { PaymentMethod } from '../../payment-method.ts'
import { type Timestamp, timestampOf } from '../../time.ts'

/** `amount * bps / 10000 + flatMinor`. */
export type Tariff = { readonly bps: number; readonly flatMinor: number }

/** Tariffs of spec 2.1.1, in force from a date: a change is a new entry, and old payments stay explainable. */
export type TariffTable = {
  readonly effectiveFrom: Timestamp
  readonly markupBps: number
  readonly virtualAccount: Readonly<Record<string, Tariff>>
  readonly ewallet: Readonly<Record<string, Tariff>>
  /** Any wallet not named above. */
  readonly ewalletFallback: Tariff
  readonly qris: Tariff
}

const BANK_FEE: Tariff = { bps: 0, flatMinor: 4_000 }

/** Oldest first. */
export const TARIFFS: readonly TariffTable[] = [
  {
    effectiveFrom: timestampOf(Date.UTC(2020, 0, 1)),
    markupBps: 10,
    virtualAccount: { BCA: BANK_FEE, BNI: BANK_FEE, BRI: BANK_FEE, MANDIRI: BANK_FEE, PERMATA: BANK_FEE },
    ewallet: {
      OVO: { bps: 200, flatMinor: 0 },
      DANA: { bps: 150, flatMinor: 500 },
      LINKAJA: { bps: 150, flatMinor: 0 },
      SHOPEEPAY: { bps: 200, flatMinor: 0 },
      GOPAY: { bps: 200, flatMinor: 0 },
    },
    ewalletFallback: { bps: 200, flatMinor: 500 },
    qris: { bps: 70, flatMinor: 0 },
  },
]

/** The table in force at a time. */
export const tariffsAt = (at: Timestamp, tables: readonly TariffTable[] = TARIFFS): TariffTable => {
  const table = tables.findLast(({ effectiveFrom }) => effectiveFrom <= at)
  assertInvariant(table !== undefined, 'no tariff table is in force')
  return table
}

const tariffOf = (table: TariffTable, method: PaymentMethod, channelCode: string | undefined): Tariff => {
  if (method === 'qris') return table.qris
  const code = channelCode ?? ''
  if (method === 'ewallet')
    return Object.hasOwn(table.ewallet, code) ? (table.ewallet[code] ?? table.ewalletFallback) : table.ewalletFallback
  const tariff = Object.hasOwn(table.virtualAccount, code) ? table.virtualAccount[code] : undefined
  assertInvariant(tariff !== undefined, 'a bank without a tariff passed validation')
  return tariff
}

/** Banks a virtual account can be made at. */
export const isSupportedBank = (code: string, at: Timestamp): boolean =>
  Object.hasOwn(tariffsAt(at).virtualAccount, code)

export type Pricing = {
  readonly providerFeeMinor: Minor
  readonly markupMinor: Minor
  readonly netMinor: Minor
}

/** What the client gets once a fee is known: notional - fee - markup. Negative for tiny amounts; credited as is. */
export const netOf = (notionalMinor: Minor, providerFeeMinor: Minor, markupMinor: Minor): Minor =>
  less(less(notionalMinor, providerFeeMinor), markupMinor)

/** The estimate of spec 2.1.1: percentages rounded down, in integers. */
export const estimatePricing = (
  {
    method,
    channelCode,
    notionalMinor,
  }: { method: PaymentMethod; channelCode?: string | undefined; notionalMinor: Minor },
  at: Timestamp,
): Pricing => {
  const table = tariffsAt(at)
  const { bps, flatMinor } = tariffOf(table, method, channelCode)
  const providerFeeMinor = plus(bpsFloor(notionalMinor, bps), minor(flatMinor))
  const markupMinor = bpsFloor(notionalMinor, table.markupBps)
  return { providerFeeMinor, markupMinor, netMinor: netOf(notionalMinor, providerFeeMinor, markupMinor) }
}
