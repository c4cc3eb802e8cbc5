import { CHANNELS } from '../../../shared/channel/channels.ts'
import {
  CHANNEL_CODE,
  MAX_AMOUNT,
  MAX_CUSTOMER_FIELD,
  MAX_DESCRIPTION,
  MAX_EXPIRY_SECONDS,
  MAX_REFERENCE,
  type PaymentBody,
  PaymentBodySchema,
  PHONE,
} from '../../../shared/payment/create/parse-payment-request.ts'
import { OTHER_CHANNELS } from '../../../shared/runtime/chosen-provider.ts'
import { RedeliverBodySchema } from '../../../shared/webhook/delivery/redeliver-dto.ts'
import { isJson, type Json, jsonSchemaOf } from './json-schema-of.ts'

const NO_PERSONAL_DATA = 'Put no personal data here.'

/** With the limits that a field's schema leaves to the payment rules. */
const FIELDS: Readonly<Record<Exclude<keyof PaymentBody, 'method' | 'channel_code'>, Json>> = {
  amount: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_AMOUNT,
    description: 'The amount that the customer pays, in IDR.',
  },
  currency: { type: 'string', const: 'IDR' },
  external_reference: {
    maxLength: MAX_REFERENCE,
    description:
      'Your own order or invoice id. Answers show it unchanged. It need not be unique. ' +
      NO_PERSONAL_DATA,
  },
  customer: { $ref: '#/components/schemas/CustomerRequest' },
  description: {
    maxLength: MAX_DESCRIPTION,
    description:
      'A note of yours. Answers show it unchanged. The provider gets it too. ' + NO_PERSONAL_DATA,
  },
  metadata: {
    type: ['object', 'null'],
    description:
      'Your own data, up to 16 KB and 32 levels. Answers show it unchanged, numbers digit for ' +
      `digit. ${NO_PERSONAL_DATA}`,
  },
  expires_in_seconds: {
    type: ['integer', 'null'],
    minimum: 0,
    maximum: MAX_EXPIRY_SECONDS,
    description:
      "Seconds from now in which the customer can pay. Without it, or with 0: the channel's own " +
      'time. Wallets and QRIS may expire earlier.',
  },
}

const CUSTOMER = { name: customerField(), email: customerField(), phone: customerField() }

const PUSH_WALLETS = CHANNELS.filter(({ needs }) => needs.phone).map(({ code }) => code)

/** Codes that look like a wallet's but belong to another kind of channel. */
const NOT_WALLETS = [...PUSH_WALLETS, ...codesOf('virtual_account'), ...OTHER_CHANNELS]
  .map((code) => code.replace('*', '.*'))
  .join('|')

const WALLET: Json = {
  type: 'string',
  pattern: `^(?!(?:${NOT_WALLETS})$)${CHANNEL_CODE.source.slice(1)}`,
  examples: codesOf('ewallet').filter((code) => !PUSH_WALLETS.includes(code)),
  description: "The wallet. A wallet without its own tariff has the wallets' common tariff.",
}

type Variant = {
  readonly description: string
  readonly method: string
  readonly required: readonly string[]
  readonly ownFields: Json
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  CreateVirtualAccountPayment: {
    description:
      'The customer pays to a virtual account number at a bank. Each payment has its own number.',
    method: 'virtual_account',
    required: ['channel_code'],
    ownFields: {
      channel_code: { type: 'string', enum: codesOf('virtual_account'), description: 'The bank.' },
    },
  },
  CreateQrisPayment: {
    description: 'The customer scans a QR code. It has no `channel_code`.',
    method: 'qris',
    required: [],
    ownFields: {
      channel_code: { type: ['string', 'null'], maxLength: 0, description: 'Leave it out.' },
    },
  },
  CreateWalletPayment: {
    description: "The customer pays on the wallet's page. Redirect the customer to it.",
    method: 'ewallet',
    required: ['channel_code'],
    ownFields: { channel_code: WALLET },
  },
  CreatePushPayment: {
    description:
      "The wallet sends a request to its app on the customer's phone, and the customer " +
      'confirms it there.',
    method: 'ewallet',
    required: ['channel_code', 'customer'],
    ownFields: {
      channel_code: { type: 'string', enum: PUSH_WALLETS },
      customer: customer(
        {
          ...CUSTOMER,
          phone: { type: 'string', pattern: PHONE.source, description: 'E.164, Indonesian.' },
        },
        { type: 'object', required: ['phone'] },
      ),
    },
  },
}

/**
 * By payment method. JSON Schema cannot express all rules: a lone surrogate, too large or too deep
 * metadata, and a body above 64 KB are refused too.
 */
export function describeCreateRequest(): Readonly<Record<string, Json>> {
  return {
    CreatePayment: {
      oneOf: Object.keys(VARIANTS).map((name) => ({ $ref: `#/components/schemas/${name}` })),
    },
    ...Object.fromEntries(
      Object.entries(VARIANTS).map(([name, variant]) => [name, describeVariant(variant)]),
    ),
    CustomerRequest: customer(CUSTOMER, {
      description: 'The customer. Every field may be missing or null.',
    }),
  }
}

/** Decoding is strict, so no other fields are allowed. */
function describeVariant({ description, method, required, ownFields }: Variant): Json {
  const rules: Json = { ...FIELDS, method: { type: 'string', const: method }, ...ownFields }
  const parsedFields = fieldsOf(jsonSchemaOf(PaymentBodySchema, 'input'))
  const fieldSchema = (name: string) => {
    const rule = Object(rules[name])
    return [
      name,
      '$ref' in rule || 'type' in rule ? rule : { ...Object(parsedFields[name]), ...rule },
    ]
  }
  return {
    description,
    type: 'object',
    additionalProperties: false,
    required: ['method', 'amount', 'currency', ...required],
    properties: Object.fromEntries(Object.keys(parsedFields).map(fieldSchema)),
  }
}

function fieldsOf({ properties }: Json) {
  if (!isJson(properties)) throw new Error('the body has no fields')
  return properties
}

function customer(properties: Json, keywords: Json): Json {
  return { type: ['object', 'null'], additionalProperties: false, properties, ...keywords }
}

const REDELIVER_FIELDS: Readonly<Record<keyof typeof RedeliverBodySchema.entries, Json>> = {
  since: { format: 'date-time', description: 'Events that fired at or after this time.' },
  status: {
    description: 'Only deliveries of this status. Without it: everything that the endpoint missed.',
  },
  cursor: { description: 'The `next` of the last answer to the same request.' },
}

export function describeRedeliverRequest(): Readonly<Record<string, Json>> {
  const schema = jsonSchemaOf(RedeliverBodySchema, 'input')
  const properties = fieldsOf(schema)
  const fields = Object.entries(REDELIVER_FIELDS).map(([name, keywords]) => [
    name,
    { ...Object(properties[name]), ...keywords },
  ])
  return { RedeliverToEndpoint: { ...schema, properties: Object.fromEntries(fields) } }
}

function codesOf(method: string) {
  return CHANNELS.filter((channel) => channel.method === method).map(({ code }) => code)
}

function customerField(): Json {
  return { type: ['string', 'null'], maxLength: MAX_CUSTOMER_FIELD }
}
