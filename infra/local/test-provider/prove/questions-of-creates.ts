import { CHANNELS, type Channel } from '../../../../shared/channel/channels.ts'
import { createFor } from './create-for.ts'
import type { Answered, Interview, Json } from './interview.ts'
import {
  isSuccess,
  notAsked,
  type OpenQuestion,
  type Study,
  shown,
  type Verdict,
  verdict,
} from './open-question.ts'
import { nameOf, REQUESTS } from './walk-channel.ts'

const IN_THE_PAST = '2020-01-01T00:00:00Z'
const DAY_MS = 86_400_000

const BANKS = ['BNI', 'BRI', 'MANDIRI', 'PERMATA', 'BCA']

const NO_BANK = notAsked('no bank is activated for this account')

/** A question about any bank that this account has. */
function ofBank(ask: (study: Study, bank: Channel) => Promise<Verdict>): OpenQuestion['ask'] {
  return (study) => {
    const bank = activeBank(study)
    return bank ? ask(study, bank) : NO_BANK
  }
}

function activeBank({ walks }: Study) {
  const name = BANKS.find((bank) => isActive(walks, bank))
  return name === undefined ? undefined : channelNamed(name)
}

function ofChannel(
  name: string,
  ask: (study: Study, channel: Channel) => Promise<Verdict>,
): OpenQuestion['ask'] {
  return (study) =>
    isActive(study.walks, name)
      ? ask(study, channelNamed(name))
      : notAsked(`${name} is not activated for this account`)
}

function channelNamed(name: string) {
  const channel = CHANNELS.find((candidate) => nameOf(candidate) === name)
  if (!channel) throw new Error(`the table of channels has no ${name}`)
  return channel
}

function isActive(walks: Study['walks'], name: string) {
  return walks.get(name)?.paid !== undefined
}

function post({ ask }: Interview, name: string, body: object, key?: string) {
  const keyed = key === undefined ? {} : { headers: { 'idempotency-key': key } }
  return ask(name, { method: 'POST', path: REQUESTS, body, ...keyed })
}

/** The second one has other fields on top. */
async function createTwice({ interview }: Study, channel: Channel, second: Json) {
  const reference = interview.newReference()
  const body = await createFor(channel, reference)
  const first = await post(interview, 'create with a key', body, reference)
  const other = { ...body, ...second }
  const again = await post(interview, 'create with the same key', other, reference)
  const [firstId, secondId] = [first, again].map(({ json }) => json['payment_request_id'])
  return { again, isSame: isSuccess(again) && firstId === secondId }
}

function withProperties(body: Json, properties: Json): Json {
  const { channel_properties: given } = body
  return { ...body, channel_properties: { ...Object(given), ...properties } }
}

const IDEMPOTENCY: readonly OpenQuestion[] = [
  {
    id: 'idempotency-key',
    question: 'Does a second create with the same idempotency-key return the first request?',
    ask: ofBank(async (study, bank) => {
      const { again, isSame } = await createTwice(study, bank, {})
      return verdict(isSame, isSame ? 'the same id' : shown(again))
    }),
  },
  {
    id: 'idempotency-key-other-body',
    question: 'Is the same idempotency-key with another amount refused?',
    ask: ofBank(async (study, bank) => {
      const { again } = await createTwice(study, bank, { request_amount: 60_000 })
      return verdict(!isSuccess(again), shown(again))
    }),
  },
  {
    id: 'reference-twice',
    question: 'Is a second create with the same reference_id accepted?',
    ask: ofBank(async (study, bank) => {
      const body = await createFor(bank, study.interview.newReference())
      await post(study.interview, 'create a reference', body)
      const again = await post(study.interview, 'create the reference again', body)
      return verdict(isSuccess(again), shown(again))
    }),
  },
]

const EXPIRY: readonly OpenQuestion[] = [
  {
    id: 'va-default-expiry',
    question: 'Does a virtual account without expires_at get one?',
    ask: ({ walks }) => {
      const walk = BANKS.map((bank) => walks.get(bank)).find((found) => found?.paid)
      if (!walk) return NO_BANK
      const { channel_properties: properties = {} } = walk.created.json
      const expiresAt = Object.entries(properties ?? {}).find(([name]) => name === 'expires_at')
      return verdict(expiresAt !== undefined, String(expiresAt?.[1] ?? 'the answer shows none'))
    },
  },
  {
    id: 'expiry-in-the-past',
    question: 'Is an expires_at in the past refused?',
    ask: ofBank(async (study, bank) => {
      const body = await createFor(bank, study.interview.newReference())
      const late = withProperties(body, { expires_at: IN_THE_PAST })
      const answer = await post(study.interview, 'create in the past', late)
      return verdict(!isSuccess(answer), shown(answer))
    }),
  },
  {
    id: 'qris-expires-at',
    question: 'Is expires_at accepted for QRIS?',
    ask: ofChannel('QRIS', async ({ interview, nowMs }, channel) => {
      const body = await createFor(channel, interview.newReference())
      const soon = new Date(nowMs() + DAY_MS).toISOString()
      const answer = await post(
        interview,
        'create QRIS with expires_at',
        withProperties(body, { expires_at: soon }),
      )
      return verdict(isSuccess(answer), shown(answer))
    }),
  },
]

function withoutUrls(name: string, left: readonly string[]): OpenQuestion {
  const missing = left.length === 0 ? 'any return URL' : 'cancel_return_url'
  return {
    id: `${name.toLowerCase()}-without-${left.length === 0 ? 'urls' : 'cancel-url'}`,
    question: `Is ${name} refused without ${missing}?`,
    ask: ofChannel(name, async ({ interview }, channel) => {
      const body = await createFor(channel, interview.newReference())
      const properties = Object.fromEntries(left.map((field) => [field, 'https://example.com/']))
      const answer = await post(interview, `create ${name} without ${missing}`, {
        ...body,
        channel_properties: properties,
      })
      return verdict(!isSuccess(answer), shown(answer))
    }),
  }
}

const RETURN_URLS = ['DANA', 'LINKAJA', 'SHOPEEPAY', 'GOPAY'].map((name) => withoutUrls(name, []))

/** The legacy test mode treats these amounts of wallets in its own way. */
function magic(amount: number, expected: string, isExpected: (answer: Answered) => boolean) {
  return {
    id: `magic-${amount}`,
    question: `Is a DANA create of ${amount} answered with ${expected}?`,
    ask: ofChannel('DANA', async ({ interview }, channel) => {
      const body = await createFor(channel, interview.newReference(), amount)
      const answer = await post(interview, `create DANA of ${amount}`, body)
      return verdict(isExpected(answer), shown(answer))
    }),
  } satisfies OpenQuestion
}

const AMOUNTS: readonly OpenQuestion[] = [
  {
    id: 'below-the-least-amount',
    question: 'Is an amount below the least of BCA refused with API_VALIDATION_ERROR?',
    ask: ofChannel('BCA', async ({ interview }, channel) => {
      const body = await createFor(channel, interview.newReference(), 9_999)
      const answer = await post(interview, 'create below the least amount', body)
      return verdict(answer.json['error_code'] === 'API_VALIDATION_ERROR', shown(answer))
    }),
  },
  magic(
    10_100,
    'CHANNEL_NOT_ACTIVATED',
    ({ json }) => json['error_code'] === 'CHANNEL_NOT_ACTIVATED',
  ),
  magic(10_101, 'CHANNEL_UNAVAILABLE', ({ json }) => json['error_code'] === 'CHANNEL_UNAVAILABLE'),
]

export const QUESTIONS_OF_CREATES: readonly OpenQuestion[] = [
  ...IDEMPOTENCY,
  ...EXPIRY,
  ...RETURN_URLS,
  withoutUrls('GOPAY', ['success_return_url', 'failure_return_url']),
  ...AMOUNTS,
]
