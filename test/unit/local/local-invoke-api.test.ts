import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { answerInvocation } from '../../../infra/local/emulators/invoke-api.ts'
import type { FunctionHost } from '../../../infra/local/functions/function-host.ts'

const first = MANIFEST[0]
if (!first) throw new Error('the manifest is empty')

const ARN = 'arn:aws:lambda:ap-southeast-3:000000000000:function:gateway-local-echo'

/** One function that answers its event, and throws when told. */
const aHost = () => {
  const events: unknown[] = []
  const echo = {
    spec: first,
    name: 'gateway-local-echo',
    invoke: async (event: unknown) => {
      events.push(event)
      if (event === 'throw') throw new TypeError('broken')
      return event
    },
  }
  const host: Pick<FunctionHost, 'byName'> = { byName: (name) => (name === echo.name ? echo : undefined) }
  return { host, events }
}

const call = async (
  name: string,
  payload: string,
  options: { type?: string; search?: string; method?: string } = {},
) => {
  const { host, events } = aHost()
  const search = options.search ?? ''
  const reply = await answerInvocation(host, {
    method: options.method ?? 'POST',
    path: `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`,
    search,
    query: new URLSearchParams(search),
    headers: { ...(options.type !== undefined && { 'x-amz-invocation-type': options.type }) },
    rawHeaders: [],
    remoteAddress: '127.0.0.1',
    body: Buffer.from(payload),
  })
  return { reply, events }
}

const answered = async (...parameters: Parameters<typeof call>) => {
  const { reply } = await call(...parameters)
  return { status: reply?.status, headers: reply?.headers, body: JSON.parse(String(reply?.body)) as unknown }
}

describe('the Lambda Invoke API (design section 6)', () => {
  it.each([
    'gateway-local-echo',
    'gateway-local-echo:$LATEST',
    ARN,
    `${ARN}:$LATEST`,
    '000000000000:function:gateway-local-echo',
  ])('finds the function by %s', async (name) => {
    expect(await answered(name, '{"a":1}')).toStrictEqual({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-amz-executed-version': '$LATEST' },
      body: { a: 1 },
    })
  })

  it('takes an empty payload for an empty object', async () => {
    expect((await call('gateway-local-echo', '')).events).toStrictEqual([{}])
  })

  it('answers 200 with the function error header when the function throws', async () => {
    expect(await answered('gateway-local-echo', '"throw"')).toStrictEqual({
      status: 200,
      headers: {
        'content-type': 'application/json',
        'x-amz-executed-version': '$LATEST',
        'x-amz-function-error': 'Unhandled',
      },
      body: { errorType: 'TypeError', errorMessage: 'broken' },
    })
  })

  it('invokes asynchronously with 202, also a function that throws', async () => {
    const { reply, events } = await call('gateway-local-echo', '"throw"', { type: 'Event' })

    expect([reply, events]).toStrictEqual([{ status: 202, body: '' }, ['throw']])
  })

  it('invokes nothing in a dry run', async () => {
    const { reply, events } = await call('gateway-local-echo', '{}', { type: 'DryRun' })

    expect([reply, events]).toStrictEqual([{ status: 204, body: '' }, []])
  })

  it.each([
    ['an unknown function', 'gateway-local-none', ''],
    ['an unknown version', 'gateway-local-echo', 'Qualifier=7'],
    ['an unknown alias in the name', 'gateway-local-echo:live', ''],
    ['a name that is none', 'a b', ''],
  ])('answers ResourceNotFoundException for %s', async (_, name, search) => {
    const { status, headers } = await answered(name, '{}', { search })

    expect([status, headers?.['x-amzn-errortype']]).toStrictEqual([404, 'ResourceNotFoundException'])
  })

  it('answers InvalidRequestContentException for a payload that is no JSON', async () => {
    const { status, headers } = await answered('gateway-local-echo', '{')

    expect([status, headers?.['x-amzn-errortype']]).toStrictEqual([400, 'InvalidRequestContentException'])
  })

  it('answers InvalidParameterValueException for an unknown invocation type', async () => {
    const { status, headers } = await answered('gateway-local-echo', '{}', { type: 'Later' })

    expect([status, headers?.['x-amzn-errortype']]).toStrictEqual([400, 'InvalidParameterValueException'])
  })

  it('leaves other requests to others', async () => {
    expect((await call('gateway-local-echo', '{}', { method: 'GET' })).reply).toBeUndefined()
  })
})
