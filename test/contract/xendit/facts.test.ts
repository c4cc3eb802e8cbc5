/*
 * Goal: the adapter reads every documented answer with the meaning that the tables below give it.
 * Method: `facts.json` holds the provider's documents in machine form. The tests make an answer for
 * every member of every enum, for every optional field and number, and for a member of tomorrow. A
 * documented member that a table lacks fails.
 */
import { describe, expect, it } from 'vitest'
import {
  aCreateInput,
  CAPTURED_PAYMENT,
  createdAnswer,
  PAID_REQUEST,
  SETTLED_TRANSACTION,
  scriptedProvider,
} from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'
import FACTS from './facts.json' with { type: 'json' }

type Reading = (fields: object) => Promise<unknown>

async function readRequest(fields: object) {
  const { provider } = await scriptedProvider(json(200, { ...PAID_REQUEST, ...fields }))
  const answer = await provider.getRequest('pr-1')
  return answer.kind === 'found' ? answer.value : answer
}

async function readPayment(fields: object) {
  const { provider } = await scriptedProvider(json(200, { ...CAPTURED_PAYMENT, ...fields }))
  const answer = await provider.getPayment('py-1')
  return answer.kind === 'found' ? answer.value : answer
}

async function readRow(fields: object) {
  const page = { has_more: false, data: [{ ...SETTLED_TRANSACTION, ...fields }] }
  const { provider } = await scriptedProvider(json(200, page))
  const answer = await provider.listTransactions({ limit: 1, rows: 'all' })
  return answer.kind === 'found' ? answer.value.transactions[0] : answer
}

/** Of a type whose fee is read: of a payment the net alone counts. */
function readFee(fields: object) {
  return readRow({ type: 'TOPUP', fee: { ...SETTLED_TRANSACTION.fee, ...fields } })
}

const PAGE = 'https://wallet.example/pay'

async function readCreated(action: object) {
  const shown = { type: 'REDIRECT_CUSTOMER', descriptor: 'WEB_URL', value: PAGE, ...action }
  const { provider } = await scriptedProvider(createdAnswer({ actions: [shown] }))
  const input = aCreateInput({ method: 'ewallet', channelCode: 'DANA' })
  const answer = await provider.createRequest(input, 5_000)
  return answer.kind === 'created' ? answer.request : answer
}

type Meanings = Readonly<Record<string, readonly [members: string, meaning: unknown]>>

/** A table of meanings: by the name of the meaning, its members and what is read. */
function meaningOf(meanings: Meanings, member: string) {
  return Object.values(meanings).find(([members]) => members.split(/\s+/).includes(member))?.[1]
}

const OPEN = { status: 'open' }
const FINAL = { keptMinor: 4_440 }
const NOT_FINAL = { keptMinor: undefined }
const UNKNOWN_MEMBER = { ...NOT_FINAL, status: 'success', hasUnknownMember: true }

function failed(failureReason?: string) {
  return { status: 'failed', failureReason }
}

const TABLES: readonly (readonly [
  enums: readonly (keyof typeof FACTS.enums)[],
  read: Reading,
  fieldsOf: (member: string) => object,
  meanings: Meanings,
  unknown: unknown,
])[] = [
  [
    ['paymentRequest.status'],
    readRequest,
    (status) => ({ status }),
    {
      open: ['REQUIRES_ACTION PENDING ACCEPTING_PAYMENTS AUTHORIZED', OPEN],
      succeeded: ['SUCCEEDED', { status: 'succeeded' }],
      failed: ['FAILED', failed()],
      expired: ['EXPIRED', { status: 'expired' }],
      cancelled: ['CANCELED', { status: 'cancelled' }],
    },
    { status: 'unknown' },
  ],
  [
    ['action.descriptor'],
    readCreated,
    (descriptor) => ({ descriptor }),
    {
      link: ['WEB_URL DEEPLINK_URL', { destination: PAGE }],
      none: [
        `CAPTURE_PAYMENT PAYMENT_CODE QR_STRING VIRTUAL_ACCOUNT_NUMBER VALIDATE_OTP RESEND_OTP`,
        { destination: undefined },
      ],
    },
    { destination: undefined },
  ],
  [
    // The descriptor decides, so the type changes nothing.
    ['action.type'],
    readCreated,
    (type) => ({ type }),
    { any: ['PRESENT_TO_CUSTOMER REDIRECT_CUSTOMER API_POST_REQUEST', { destination: PAGE }] },
    { destination: PAGE },
  ],
  [
    ['payment.status'],
    readPayment,
    (status) => ({ status }),
    {
      open: ['PENDING AUTHORIZED', OPEN],
      captured: ['SUCCEEDED', { status: 'captured', capturedMinor: 150_000 }],
      failed: ['FAILED CANCELED EXPIRED', { status: 'failed', capturedMinor: 0 }],
    },
    { status: 'unknown', capturedMinor: 0 },
  ],
  [
    ['payment.failure_code'],
    readPayment,
    (failure_code) => ({ status: 'FAILED', failure_code }),
    {
      declined: [
        `ACCOUNT_ACCESS_BLOCKED ACCOUNT_NOT_ACTIVATED EXPIRED_OTP INSUFFICIENT_BALANCE
         INVALID_ACCOUNT_DETAILS INVALID_OTP OTP_ATTEMPT_COUNTS_EXCEEDED
         PAYMENT_AMOUNT_LIMITS_EXCEEDED PAYMENT_ATTEMPT_COUNTS_EXCEEDED USER_DECLINED_PAYMENT
         USER_DEVICE_UNREACHABLE USER_DID_NOT_AUTHORIZE`,
        failed('declined'),
      ],
      unavailable: [
        'CHANNEL_UNAVAILABLE PARTNER_TIMEOUT_ERROR SERVER_ERROR TIMEOUT_ERROR',
        failed('channel_unavailable'),
      ],
      other: [
        `INVALID_MERCHANT_SETTINGS INVALID_TOKEN PAYMENT_REQUEST_EXPIRED
         FAILURE_DETAILS_UNAVAILABLE`,
        failed(),
      ],
    },
    failed(),
  ],
  [
    ['transaction.type', 'transaction.type outside the list', 'transaction.type of the SDKs'],
    readRow,
    (type) => ({ type }),
    {
      payment: ['PAYMENT', { type: 'payment' }],
      return: ['REFUND CHARGEBACK chargeback_deduction', { type: 'return' }],
      correction: [
        'CHARGEBACK_REVERSAL ADJUSTMENT_ADD ADJUSTMENT_DEDUCT OTHER',
        { type: 'correction' },
      ],
      account: [
        `BNPL_PARTNER_SETTLEMENT_CREDIT BNPL_PARTNER_SETTLEMENT_DEBIT CASHBACK CASHBACK_FEE
         CASHBACK_VAT CONVERSION DISBURSEMENT BATCH_DISBURSEMENT FOREX_DEDUCTION FOREX_DEPOSIT
         IN_PERSON_PAYMENT LOAN_REPAYMENT PLATFORM_FEE REMITTANCE REMITTANCE_COLLECTION
         REMITTANCE_COLLECTION_PAYMENT REMITTANCE_PAYOUT RESERVES_HOLD RESERVES_RELEASE TOPUP
         TRANSFER TRANSFER_IN TRANSFER_OUT WITHDRAWAL`,
        { type: 'account' },
      ],
    },
    { type: 'unknown' },
  ],
  [
    ['transaction.status'],
    readRow,
    (status) => ({ status }),
    {
      pending: ['PENDING', { status: 'pending' }],
      success: ['SUCCESS', { status: 'success' }],
      failed: ['FAILED', { status: 'failed' }],
      voided: ['VOIDED', { status: 'reversed', reversalKind: 'voided' }],
      reversed: ['REVERSED', { status: 'reversed', reversalKind: 'reversed' }],
    },
    { status: 'unknown' },
  ],
  [
    ['transaction.settlement_status'],
    readRow,
    (settlement_status) => ({ settlement_status }),
    { settled: ['SETTLED EARLY_SETTLED', FINAL], open: ['PENDING', NOT_FINAL] },
    UNKNOWN_MEMBER,
  ],
  [
    ['fee.status'],
    readRow,
    (status) => ({ fee: { ...SETTLED_TRANSACTION.fee, status } }),
    { final: ['COMPLETED NOT_APPLICABLE', FINAL], open: ['PENDING CANCELED REVERSED', NOT_FINAL] },
    UNKNOWN_MEMBER,
  ],
  [
    ['transaction.cashflow'],
    readRow,
    (cashflow) => ({ type: 'OTHER', cashflow }),
    {
      in: ['MONEY_IN', { status: 'success', providerMinor: 145_560 }],
      out: ['MONEY_OUT', { status: 'success', providerMinor: -145_560 }],
    },
    { status: 'unknown' },
  ],
  [
    ['transaction.channel_category'],
    readRow,
    (channel_category) => ({ channel_category }),
    Object.fromEntries(
      FACTS.enums['transaction.channel_category'].members.map((category) => [
        category,
        [category, { category }],
      ]),
    ),
    { category: 'MEMBER_OF_TOMORROW' },
  ],
]

/** Of a callback, or of what we asked for. */
const ELSEWHERE = [
  'event',
  'dispute event',
  'paymentRequest.type',
  'capture_method',
  'balance.account_type',
]

it('every documented enum has a table', () => {
  const names = [...TABLES.flatMap(([enums]) => enums), ...ELSEWHERE]

  expect(names.toSorted()).toStrictEqual(Object.keys(FACTS.enums).toSorted())
})

describe.each(TABLES)('the adapter reads %j', (enums, read, fieldsOf, meanings, unknown) => {
  it('by its table, and a member of tomorrow as unknown', async () => {
    const members = enums.flatMap((name) => FACTS.enums[name].members)
    const named = Object.values(meanings).flatMap(([names]) => names.split(/\s+/))

    expect(named.toSorted()).toStrictEqual(members.toSorted())
    for (const member of members)
      expect([member, await read(fieldsOf(member))]).toMatchObject([
        member,
        meaningOf(meanings, member),
      ])
    expect(await read(fieldsOf('MEMBER_OF_TOMORROW'))).toMatchObject(Object(unknown))
  })
})

it.each([
  ['paymentRequest', readRequest, PAID_REQUEST],
  ['payment', readPayment, CAPTURED_PAYMENT],
  ['transaction', readRow, SETTLED_TRANSACTION],
  ['fee', readFee, SETTLED_TRANSACTION.fee],
] as const)(
  'the adapter reads a %s whose optional fields are absent or null, and numbers as text',
  async (name, read, usual) => {
    const { optional, numbers } = FACTS.objects[name]
    const usualReading = Object(await read({}))
    const values = Object.entries(usual)

    for (const field of optional)
      for (const value of [undefined, null]) {
        expect(await read({ [field]: value })).not.toHaveProperty('kind')
      }
    for (const [field, value] of values.filter(([key]) => numbers.includes(key)))
      for (const text of [String(value), `${value}.00`]) {
        expect(await read({ [field]: text })).toStrictEqual(usualReading)
      }
  },
)

it('the second net asks for every documented type but payments, each by its name', async () => {
  const documented = FACTS.enums['transaction.type'].members.filter((name) => name !== 'PAYMENT')
  const { provider, server } = await scriptedProvider(json(500, {}))

  await provider.listTransactions({ limit: 1, rows: 'others' })

  const [url = ''] = server.requests.map((request) => request.url)
  const asked = new URL(url, 'http://provider').searchParams.getAll('types')
  expect(asked.toSorted()).toStrictEqual(documented.toSorted())
})
