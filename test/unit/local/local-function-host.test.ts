import type { Context } from 'aws-lambda'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { hostFunctions } from '../../../infra/local/functions/function-host.ts'
import { loadHandlers } from '../../../infra/local/functions/load-handlers.ts'
import { eventually } from '../../support/eventually.ts'
import { testDeps } from '../../support/test-deps.ts'

const aSpec = (changes: Partial<FunctionSpec> = {}): FunctionSpec => ({
  name: 'some-function',
  entry: 'functions/admin/some-function.ts',
  trigger: { kind: 'operator' },
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
  const host = hostFunctions([{ spec: aSpec(changes), withDeps: () => run }], {
    stage: 'local',
    depsFor: () => deps,
    log: deps.log,
  })
  const found = host.byName('gateway-local-some-function')
  if (!found) throw new Error('not hosted')
  return { invoke: found.invoke, lines: deps.lines }
}

/** Runs that end when told. */
const controlled = () => {
  const ends: (() => void)[] = []
  let running = 0
  let most = 0
  return {
    run: async (event: unknown) => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => ends.push(resolve))
      running--
      return event
    },
    started: () => ends.length,
    mostAtOnce: () => most,
    endNext: async (at: number) => {
      ends[at]?.()
      await new Promise<void>((resolve) => setImmediate(resolve))
    },
  }
}

afterEach(() => {
  vi.useRealTimers()
})

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
      name: 'gateway-local-some-function',
      arn: 'arn:aws:lambda:ap-southeast-3:000000000000:function:gateway-local-some-function',
      inTime: true,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('rejects with what the handler throws, and logs that it did', async () => {
    const { invoke, lines } = hosted(async () => {
      throw new TypeError('broken')
    })

    await expect(invoke({})).rejects.toThrow(new TypeError('broken'))
    expect(lines.map(({ code, fields }) => [code, fields['function']])).toStrictEqual([
      ['invocation.failed', 'gateway-local-some-function'],
    ])
  })

  it('gives up on a handler after the timeout of its manifest entry', async () => {
    vi.useFakeTimers()
    const { invoke } = hosted(() => new Promise(() => undefined), { timeoutSeconds: 25 })

    const outcome = expect(invoke({})).rejects.toThrow('Task timed out after 25.00 seconds')
    await vi.advanceTimersByTimeAsync(25_000)

    await outcome
  })

  it('runs as many at once as are asked for when no concurrency is reserved', async () => {
    const runs = controlled()
    const { invoke } = hosted(runs.run)

    const answers = [invoke(1), invoke(2), invoke(3)]
    await eventually(() => expect(runs.started()).toBe(3))
    for (const at of [0, 1, 2]) await runs.endNext(at)

    expect(await Promise.all(answers)).toStrictEqual([1, 2, 3])
  })
})

describe('a function with reserved concurrency 1 (check-due-work, design section 4)', () => {
  it('makes a second call wait for the first', async () => {
    const runs = controlled()
    const { invoke } = hosted(runs.run, { reservedConcurrency: 1 })

    const answers = [invoke(1), invoke(2), invoke(3)]
    for (const at of [0, 1, 2]) {
      await eventually(() => expect(runs.started()).toBe(at + 1))
      await runs.endNext(at)
    }

    expect(await Promise.all(answers)).toStrictEqual([1, 2, 3])
    expect(runs.mostAtOnce()).toBe(1)
  })

  it('keeps the place of a run past its timeout until that run is over', async () => {
    const runs = controlled()
    const { invoke } = hosted(runs.run, { reservedConcurrency: 1, timeoutSeconds: 0.001 })

    await expect(invoke(1)).rejects.toThrow('timed out')
    const second = invoke(2)
    await new Promise<void>((resolve) => setImmediate(resolve))
    const startedBefore = runs.started()
    await runs.endNext(0)
    await eventually(() => expect(runs.started()).toBe(2))
    await runs.endNext(1)
    await second

    expect(startedBefore).toBe(1)
    expect(runs.mostAtOnce()).toBe(1)
  })

  it('drops an invocation that has waited longer than its greatest age', async () => {
    const runs = controlled()
    const { invoke } = hosted(runs.run, { reservedConcurrency: 1 })
    const first = invoke(1)
    await eventually(() => expect(runs.started()).toBe(1))

    const late = invoke(2, { maxAgeMs: -1 })
    await runs.endNext(0)

    expect(await Promise.all([first, late])).toStrictEqual([1, undefined])
    expect(runs.started()).toBe(1)
  })
})

describe('loading the manifest', () => {
  it('names the entry that is missing', async () => {
    await expect(loadHandlers([aSpec({ entry: 'functions/admin/no-such-file.ts' })])).rejects.toThrow(
      'cannot load functions/admin/no-such-file.ts, the entry of function some-function',
    )
  })

  it('names the entry that exports no handler', async () => {
    await expect(loadHandlers([aSpec({ entry: 'functions/manifest.ts' })])).rejects.toThrow(
      'functions/manifest.ts exports no handler with withDeps',
    )
  })
})
