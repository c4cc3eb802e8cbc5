import * as v from 'valibot'
import FACTS from '../contract/xendit/facts.json' with { type: 'json' }

/**
 * The provider's documented facts (`facts.json`) as schemas of every call we make; for channels
 * also spec 2.1.1. Nothing here comes from our code. A field that is not here is undocumented.
 */

export function id(name: keyof typeof FACTS.ids) {
  return v.pipe(v.string(), v.regex(new RegExp(FACTS.ids[name].pattern)))
}

export function text(least: number, most: number) {
  return v.pipe(v.string(), v.minLength(least), v.maxLength(most))
}

/** A member of a documented enum. */
export function memberOf(name: keyof typeof FACTS.enums) {
  return v.picklist(FACTS.enums[name].members)
}

export const Time = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z$/),
)
const Url = v.pipe(v.string(), v.url(), v.regex(/^https?:/))

const Qris = v.strictObject({
  expires_at: v.optional(Time),
  qr_string_type: v.optional(v.literal('DYNAMIC')),
})
const Phone = v.strictObject({
  account_mobile_number: v.pipe(v.string(), v.regex(/^\+[0-9]\d{1,14}$/)),
})
const ReturnUrls = v.strictObject({ success_return_url: Url, failure_return_url: v.optional(Url) })
const GopayUrls = v.strictObject({ ...ReturnUrls.entries, cancel_return_url: v.optional(Url) })

const VirtualAccount = v.strictObject({
  display_name: text(1, 250),
  expires_at: v.optional(Time),
  virtual_account_number: v.optional(v.string()),
  success_return_url: v.optional(Url),
})

const DAY = 86_400

export type ChannelFacts = {
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  readonly channelCode: string | undefined
  readonly providerCode: string
  readonly transactionCode: string
  readonly properties: v.GenericSchema
  /** The fee of spec 2.1.1, in tenths of a percent and whole rupiah. */
  readonly permille: bigint
  readonly flat: bigint
  readonly lifetimeSeconds: number
  /**
   * Least and most rupiah of one payment, from the provider's list of payment methods, read
   * 2026-09-30.
   */
  readonly amounts: readonly [number, number]
  /** When the provider settles a capture: within minutes, or after so many business days. */
  readonly settles: 'at once' | number
  /**
   * What the provider's pages of channels (April 2026) say of a refund in its dashboard. Undefined:
   * there is none, so the money goes back by a transfer.
   */
  readonly refund?: string
  /** The numbers of the bank's virtual accounts. */
  readonly accounts?: RegExp
}

export const CHANNEL_FACTS: readonly ChannelFacts[] = [
  bank('BCA', { amounts: [10_000, 50_000_000], accounts: /^38165\d{10}$/, settles: 1 }),
  bank('BNI', { amounts: [1, 50_000_000], accounts: /^8808\d{12}$/, settles: 'at once' }),
  bank('BRI', { amounts: [1, 50_000_000_000], accounts: /^13282\d{13}$/, settles: 'at once' }),
  bank('MANDIRI', { amounts: [1, 50_000_000_000], accounts: /^88608\d{11}$/, settles: 'at once' }),
  bank('PERMATA', { amounts: [1, 9_999_999_999], accounts: /^7293\d{12}$/, settles: 'at once' }),
  wallet('OVO', {
    properties: Phone,
    permille: 20n,
    lifetimeSeconds: 55,
    amounts: [100, 20_000_000],
    settles: 2,
    refund: '14 days, only of merchant-initiated payments',
  }),
  wallet('DANA', {
    properties: ReturnUrls,
    permille: 15n,
    flat: 500n,
    lifetimeSeconds: DAY,
    amounts: [100, 20_000_000],
    settles: 2,
    refund: '30 days',
  }),
  wallet('LINKAJA', {
    properties: ReturnUrls,
    permille: 15n,
    lifetimeSeconds: 1_800,
    amounts: [1, 20_000_000],
    settles: 2,
    refund: '30 days, only of the whole amount',
  }),
  wallet('SHOPEEPAY', {
    properties: ReturnUrls,
    permille: 20n,
    lifetimeSeconds: 1_800,
    amounts: [1, 20_000_000],
    settles: 2,
    refund: '365 days',
  }),
  wallet('GOPAY', {
    properties: GopayUrls,
    permille: 20n,
    lifetimeSeconds: 1_800,
    amounts: [1, 50_000_000],
    settles: 1,
    refund: '45 days',
  }),
  {
    ...wallet('QRIS', {
      properties: Qris,
      permille: 7n,
      lifetimeSeconds: 2 * DAY,
      amounts: [1, 20_000_000],
      settles: 2,
      refund: '7 days, only from issuers that the provider names',
    }),
    ...({ method: 'qris', channelCode: undefined, transactionCode: 'QRIS' } as const),
  },
]

const ofBanks = CHANNEL_FACTS.filter(({ method }) => method === 'virtual_account')
export const BANKS = ofBanks.map(({ transactionCode }) => transactionCode)
export const CHANNELS = CHANNEL_FACTS.map(({ providerCode }) => providerCode)

export function fitsChannel(asked: {
  readonly channel_code: string
  readonly channel_properties: unknown
}) {
  const facts = CHANNEL_FACTS.find(({ providerCode }) => providerCode === asked.channel_code)
  return facts !== undefined && v.is(facts.properties, asked.channel_properties)
}

/** IDR has no decimals: whole numbers are sent, and never text. */
export const Rupiah = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

export const Country = v.literal('ID')
export const Currency = v.literal('IDR')

function bank(
  name: string,
  terms: Required<Pick<ChannelFacts, 'amounts' | 'accounts' | 'settles'>>,
): ChannelFacts {
  const names = {
    channelCode: name,
    providerCode: `${name}_VIRTUAL_ACCOUNT`,
    transactionCode: name,
  }
  const commonTerms = {
    properties: VirtualAccount,
    permille: 0n,
    flat: 4_000n,
    lifetimeSeconds: DAY,
  }
  return { method: 'virtual_account', ...names, ...commonTerms, ...terms }
}

type WalletTerms = Pick<
  ChannelFacts,
  'properties' | 'permille' | 'lifetimeSeconds' | 'amounts' | 'settles' | 'refund'
> &
  Partial<Pick<ChannelFacts, 'flat'>>

function wallet(name: string, terms: WalletTerms): ChannelFacts {
  const names = { channelCode: name, providerCode: name, transactionCode: `ID_${name}` }
  return { method: 'ewallet', ...names, flat: 0n, ...terms }
}

const CreateBody = v.pipe(
  v.strictObject({
    reference_id: text(1, 255),
    type: v.literal('PAY'),
    country: Country,
    currency: Currency,
    request_amount: Rupiah,
    channel_code: v.picklist(CHANNELS),
    channel_properties: v.record(v.string(), v.unknown()),
    capture_method: v.optional(memberOf('capture_method')),
    description: v.optional(text(1, 1_000)),
    metadata: v.optional(v.record(text(1, 40), text(0, 500))),
  }),
  v.check((body) => fitsChannel(body), 'channel_properties do not fit the channel'),
)

const TransactionQuery = v.strictObject({
  types: v.optional(memberOf('transaction.type')),
  reference_id: v.optional(text(1, 255)),
  product_id: v.optional(v.string()),
  'updated[gte]': v.optional(Time),
  'updated[lte]': v.optional(Time),
  'created[gte]': v.optional(Time),
  'created[lte]': v.optional(Time),
  // The documents give no maximum; no example is above 50.
  limit: v.pipe(v.string(), v.regex(/^([1-9]|[1-4]\d|50)$/)),
  after_id: v.optional(v.string()),
})

const Basic = v.pipe(v.string(), v.regex(/^Basic [A-Za-z0-9+/]+=*$/))
const Headers = { authorization: Basic, accept: v.literal('application/json') }
const V3 = { ...Headers, 'api-version': v.literal('2024-11-11') }

const BARE = {
  headers: v.object({ ...V3, 'content-type': v.optional(v.never()) }),
  query: v.strictObject({}),
  body: v.literal(''),
}

export const REQUESTS = {
  create: {
    ...BARE,
    method: 'POST',
    path: pathOf('create'),
    headers: v.object({ ...V3, 'content-type': v.literal('application/json') }),
    body: CreateBody,
  },
  getRequest: { ...BARE, method: 'GET', path: pathOf('getRequest') },
  getPayment: { ...BARE, method: 'GET', path: pathOf('getPayment') },
  cancel: { ...BARE, method: 'POST', path: pathOf('cancel') },
  balance: {
    ...BARE,
    method: 'GET',
    path: pathOf('balance'),
    query: v.strictObject({ account_type: v.literal('CASH') }),
  },
  transactions: {
    ...BARE,
    method: 'GET',
    path: pathOf('transactions'),
    headers: v.object(Headers),
    query: TransactionQuery,
  },
} as const

/** The documented path, with ids of the documented form. */
function pathOf(operation: keyof typeof FACTS.operations): RegExp {
  const [, path = ''] = FACTS.operations[operation].call.split(' ')
  const pattern = Object.entries(FACTS.ids).reduce(
    (form, [name, idFacts]) => form.replace(`{${name}}`, idFacts.pattern.slice(1, -1)),
    path,
  )
  return new RegExp(`^${pattern}$`)
}

/** What a value has against its facts; empty if the value is valid. */
export function violationsOf(facts: v.GenericSchema, value: unknown): readonly string[] {
  return (v.safeParse(facts, value).issues ?? []).map(
    (issue) => `${v.getDotPath(issue) ?? ''}: ${issue.message}`,
  )
}
