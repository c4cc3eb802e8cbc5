import type { Context } from 'aws-lambda'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { answerInvocation } from '../../../infra/local/emulators/answer-invocation.ts'
import { hostFunctions } from '../../../infra/local/functions/function-host.ts'
import { eventually } from '../../support/eventually.ts'
import { testDeps } from '../../support/test-deps.ts'

const NAME = 'gateway-local-echo'
const ARN = `arn:aws:lambda:ap-southeast-3:000000000000:function:${NAME}`

const aSpec = (changes: Partial<FunctionSpec> = {}): FunctionSpec => ({
  name: 'echo',
  entry: 'functions/admin/echo.ts',
  trigger: { kind: 'operator', duty: 'support' },
  table: {},
  sends: [],
  alerts: false,
  secrets: [],
  timeoutSeconds: 10,
  memoryMb: 512,
  ...changes,
})

const hosted = (run: (event: unknown, context: Context) => Promise<unknown>, changes: Partial<FunctionSpec> = {}) => {
  const deps = testDeps()
  const options = { stage: 'local', depsFor: () => deps, log: deps.log }
  const host = hostFunctions([{ spec: aSpec(changes), withDeps: () => run }], options)
  const invoke = async (event: unknown, { maxAgeMs }: { maxAgeMs?: number } = {}) =>
    host.byName(NAME)?.invoke(event, maxAgeMs === undefined ? {} : { maxAgeMs })
  return { host, invoke, lines: deps.lines }
}

/** A function whose runs end when told. */
const controlled = (changes: Partial<FunctionSpec> = {}) => {
  const ends: (() => void)[] = []
  let running = 0
  let most = 0
  const { invoke } = hosted(async (event) => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running--
    return event
  }, changes)
  return {
    invoke,
    begun: (count: number) => eventually(() => expect(ends).toHaveLength(count)),
    mostAtOnce: () => most,
    end: async (at: number) => {
      ends[at]?.()
      await new Promise<void>((resolve) => setImmediate(resolve))
    },
  }
}

afterEach(() => void vi.useRealTimers())

describe('a function of the local gateway', () => {
  it('gets the event and a context that names it and counts its time down', async () => {
    const { invoke } = hosted(async (event, context) => ({
      event,
      name: context.functionName,
      arn: context.invokedFunctionArn,
      inTime: context.getRemainingTimeInMillis() > 0 && context.getRemainingTimeInMillis() <= 10_000,
      requestId: context.awsRequestId,
    }))

    expect(await invoke({ a: 1 })).toStrictEqual({
      event: { a: 1 },
      name: NAME,
      arn: ARN,
      inTime: true,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('rejects with what the handler throws, and logs that it did', async () => {
    const { invoke, lines } = hosted(async () => Promise.reject(new TypeError('broken')))

    await expect(invoke({})).rejects.toThrow(new TypeError('broken'))
    expect(lines).toMatchObject([{ code: 'invocation.failed', fields: { function: NAME } }])
  })
})

describe('a function with reserved concurrency 1 (check-due-work, design section 4)', () => {
  it('keeps the place of a run past its timeout until that run is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { invoke, begun, end, mostAtOnce } = controlled({ reservedConcurrency: 1, timeoutSeconds: 25 })

    const first = expect(invoke(1)).rejects.toThrow('Task timed out after 25.00 seconds')
    await vi.advanceTimersByTimeAsync(25_000)
    await first
    const second = invoke(2)
    await new Promise<void>((resolve) => setImmediate(resolve))
    await begun(1)
    await end(0)
    await begun(2)
    await end(1)
    await second

    expect(mostAtOnce()).toBe(1)
  })

  it('drops an invocation that has waited longer than its greatest age', async () => {
    const { invoke, begun, end } = controlled({ reservedConcurrency: 1 })
    const first = invoke(1)
    await begun(1)

    const late = invoke(2, { maxAgeMs: -1 })
    await end(0)

    expect(await Promise.all([first, late])).toStrictEqual([1, undefined])
    await begun(1)
  })
})

type CallOptions = Partial<Record<'name' | 'type' | 'duty', string>> & { spec?: Partial<FunctionSpec> }

/** Calls a function that answers its event, and throws when told. */
const call = async (payload: string, { name = NAME, type = '', duty = '', spec }: CallOptions = {}) => {
  const echo = vi.fn(async (event: unknown) => {
    if (event === 'throw') throw new TypeError('broken')
    return event
  })
  const reply = await answerInvocation(hosted(echo, spec).host, {
    method: 'POST',
    path: `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`,
    search: '',
    query: new URLSearchParams(),
    headers: { ...(type && { 'x-amz-invocation-type': type }), ...(duty && { 'x-local-duty': duty }) },
    rawHeaders: [],
    remoteAddress: '127.0.0.1',
    body: Buffer.from(payload),
  })
  const { 'content-type': _, ...headers } = reply?.headers ?? {}
  return { status: reply?.status, headers, body: reply?.body, events: echo.mock.calls.map(([event]) => event) }
}

describe('the Lambda Invoke API (design section 6)', () => {
  const headers = { 'x-amz-executed-version': '$LATEST' }
  const failure = { ...headers, 'x-amz-function-error': 'Unhandled' }
  const error = (type: string) => ({ 'x-amzn-errortype': type })

  it.each<[string, string, CallOptions, object]>([
    ['by its ARN', '{"a":1}', { name: `${ARN}:$LATEST` }, { status: 200, headers, body: '{"a":1}' }],
    ['with an empty object for an empty payload', '', {}, { events: [{}] }],
    [
      'that throws, with 200 and the header of a function error',
      '"throw"',
      {},
      { status: 200, headers: failure, body: '{"errorType":"TypeError","errorMessage":"broken"}' },
    ],
    [
      'asynchronously, also one that throws',
      '"throw"',
      { type: 'Event' },
      { status: 202, body: '', events: ['throw'] },
    ],
    ['not in a dry run', '{}', { type: 'DryRun' }, { status: 204, body: '', events: [] }],
  ])('invokes a function %s', async (_case, payload, options, expected) => {
    expect(await call(payload, options)).toMatchObject(expected)
  })

  const swept = { trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 1 } } } as const

  it.each<[string, string, CallOptions, number, string]>([
    ['an unknown function', '{}', { name: 'gateway-local-none' }, 404, 'ResourceNotFoundException'],
    ['a payload that is no JSON', '{', {}, 400, 'InvalidRequestContentException'],
    ['an unknown duty', '{}', { duty: 'boss' }, 400, 'InvalidParameterValueException'],
    ['an action of another duty', '{}', { duty: 'finance' }, 403, 'AccessDeniedException'],
    ['scheduled work to an operator', '{}', { duty: 'support', spec: swept }, 403, 'AccessDeniedException'],
  ])('refuses %s in the words of AWS', async (_case, payload, options, status, type) => {
    expect(await call(payload, options)).toMatchObject({ status, headers: error(type), events: [] })
  })

  it.each([{ duty: 'support' }, { duty: 'deploy', spec: swept }])('answers a duty its own: %j', async (own) => {
    expect(await call('{}', own)).toMatchObject({ status: 200, events: [{}] })
  })
})
