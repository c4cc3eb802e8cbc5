import { type ApiResponse, CALLBACK_TOKEN } from '../support/api-event.ts'

type Post = (
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
  asBase64?: boolean,
) => Promise<ApiResponse>

/** Sends the provider's genuine callback in a broken way, and gives the answers. */
type CallbackWay = (post: Post, genuine: string) => Promise<readonly ApiResponse[]>

const TOKEN = { 'x-callback-token': CALLBACK_TOKEN }
const OTHER_ID = 'py-00000000-0000-4000-8000-000000000000'

export const CALLBACK_WAYS: Readonly<Record<string, CallbackWay>> = {
  'as it is': one((text) => text),
  twice: (post, text) => inTurn([1, 2], () => post(text, TOKEN)),
  'five at once': (post, text) => Promise.all([1, 2, 3, 4, 5].map(() => post(text, TOKEN))),
  'half of it': one((text) => text.slice(0, text.length / 2)),
  empty: one(() => ''),
  'a byte order mark first': one((text) => `\uFEFF${text}`),
  'a line break last': one((text) => `${text}\r\n`),
  base64: (post, text) => inTurn([1], () => post(text, TOKEN, true)),
  'UTF-16': one((text) => Buffer.from(text, 'utf16le')),
  'a form': (post, text) =>
    inTurn([1], () =>
      post(text, { ...TOKEN, 'content-type': 'application/x-www-form-urlencoded' }),
    ),
  'no type': (post, text) => inTurn([1], () => post(text, { ...TOKEN, 'content-type': '' })),
  'a wrong token': (post, text) => inTurn([1], () => post(text, { 'x-callback-token': 'no' })),
  'no token': (post, text) => inTurn([1], () => post(text, {})),
  'the header in capitals': (post, text) =>
    inTurn([1], () => post(text, { 'X-CALLBACK-TOKEN': CALLBACK_TOKEN })),
  'the older name': one(renamed('payment.succeeded')),
  'a failure of it': one(renamed('payment.failure')),
  'an unknown event': one(renamed('payment.of_tomorrow')),
  'another amount': one((text) => text.replaceAll('100000', '999999')),
  'another payment': one((text) => text.replace(/py-[0-9a-f-]{36}/g, OTHER_ID)),
  'no reference': one((text) => text.replace(/"reference_id":"[^"]*",/, '')),
  'twice nested': one((text) => {
    const { data, ...envelope } = JSON.parse(text)
    return JSON.stringify({ ...envelope, data: { data } })
  }),
  '300 KB of it': one((text) => text + ' '.repeat(300_000)),
}

function one(change: (text: string) => string | Buffer): CallbackWay {
  return (post, text) => inTurn([1], () => post(change(text), TOKEN))
}

function renamed(to: string) {
  return (text: string) => text.replace('payment.capture', to)
}

async function inTurn(times: readonly number[], send: () => Promise<ApiResponse>) {
  const answers: ApiResponse[] = []
  for (const _ of times) answers.push(await send())
  return answers
}
