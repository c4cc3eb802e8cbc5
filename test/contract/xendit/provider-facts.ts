import * as v from 'valibot'
import FACTS from './facts.json' with { type: 'json' }

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

export type ChannelFacts = {
  readonly method: 'virtual_account' | 'ewallet' | 'qris'
  readonly channelCode: string | undefined
  readonly providerCode: string
  readonly transactionCode: string
  readonly properties: v.GenericSchema
  readonly permille: bigint
  readonly flat: bigint
  readonly lifetimeSeconds: number
  readonly amounts: readonly [number, number]
  /** When the provider settles a capture: within minutes, or after so many business days. */
  readonly settles: 'at once' | number
  /** Undefined: the provider's dashboard refunds nothing. */
  readonly refund: string | undefined
  readonly accounts: RegExp | undefined
}

const PROPERTIES: Readonly<Record<string, v.GenericSchema>> = {
  virtual_account: VirtualAccount,
  OVO: Phone,
  GOPAY: GopayUrls,
  ewallet: ReturnUrls,
  qris: Qris,
}

export const CHANNEL_FACTS = FACTS.channels.members.map((member): ChannelFacts => {
  const { name, permille, flat, least, most, settles, accounts } = member
  const method = member.method as ChannelFacts['method']
  return {
    ...member,
    method,
    channelCode: method === 'qris' ? undefined : name,
    providerCode: method === 'virtual_account' ? `${name}_VIRTUAL_ACCOUNT` : name,
    transactionCode: method === 'ewallet' ? `ID_${name}` : name,
    properties: PROPERTIES[name] ?? PROPERTIES[method] ?? v.never(),
    permille: BigInt(permille),
    flat: BigInt(flat),
    lifetimeSeconds: member.seconds,
    amounts: [least, most],
    settles: settles || 'at once',
    refund: member.refund,
    accounts: accounts === undefined ? undefined : new RegExp(accounts),
  }
})

const ofBanks = CHANNEL_FACTS.filter(({ method }) => method === 'virtual_account')
export const BANKS = ofBanks.map(({ transactionCode }) => transactionCode)
export const CHANNELS = CHANNEL_FACTS.map(({ providerCode }) => providerCode)

export function fitsChannel(asked: {
  readonly channel_code: string
  readonly channel_properties: unknown
}) {
  const facts = CHANNEL_FACTS.find(({ providerCode }) => providerCode === asked.channel_code)
  if (facts === undefined) return false
  const { names } = FACTS.channelProperties[facts.properties === Phone ? 'OVO' : facts.method]
  return (
    v.is(facts.properties, asked.channel_properties) &&
    Object.keys(Object(asked.channel_properties)).every((name) => names.includes(name))
  )
}

/** IDR has no decimals: whole numbers are sent, and never text. */
export const Rupiah = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

export const Country = v.literal('ID')
export const Currency = v.literal('IDR')

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
  v.check((body) => {
    const { required, optional } = FACTS.operations.create
    return (
      required.every((name) => name in body) &&
      Object.keys(body).every((name) => [...required, ...optional].includes(name))
    )
  }, 'a field is missing, or beyond the documents'),
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
    query: v.strictObject({ account_type: v.literal('CASH'), currency: Currency }),
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
function pathOf(operation: keyof typeof FACTS.operations) {
  const [, path = ''] = FACTS.operations[operation].call.split(' ')
  const pattern = Object.entries(FACTS.ids).reduce(
    (form, [name, idFacts]) => form.replace(`{${name}}`, idFacts.pattern.slice(1, -1)),
    path,
  )
  return new RegExp(`^${pattern}$`)
}

/** What a value has against its facts; empty if the value is valid. */
export function violationsOf(facts: v.GenericSchema, value: unknown) {
  return (v.safeParse(facts, value).issues ?? []).map(
    (issue) => `${v.getDotPath(issue) ?? ''}: ${issue.message}`,
  )
}
