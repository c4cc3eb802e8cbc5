import { describe, expect, it } from 'vitest'
import { type Answer, LEAST_DAYS, probeFront } from '../../../infra/stack/edge/probe-front.ts'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { API, anApiClient, call } from '../../support/api-event.ts'
import { synthesisedFront } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'
import { memoryDeps } from '../../support/test-deps.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-11-26T00:00:00Z')
const PROBE = { host: 'pay.example', unknownKey: unknownKey('test'), keySecret: 'canary' }

/** The answers of the real handler, behind a certificate that ends in 60 days. */
async function theGateway() {
  const deps = memoryDeps()
  const canary = await anApiClient(deps)
  const answers = {
    unknown: await call(deps, API.getBalance, {
      caller: { authorization: `Bearer ${PROBE.unknownKey}` },
    }),
    canary: await call(deps, API.getBalance, { caller: canary }),
  }
  const asked: string[] = []
  return { answers, asked }
}

async function probeWith(change: {
  readonly unknown?: Partial<Answer>
  readonly canary?: Partial<Answer>
  readonly key?: string | undefined
}) {
  const { answers, asked } = await theGateway()
  const certificateEndsAt = NOW_MS + 60 * DAY_MS
  const result = await probeFront(
    {
      ask: async (_, key) => {
        asked.push(key)
        const which = key === PROBE.unknownKey ? 'unknown' : 'canary'
        return { ...answers[which], certificateEndsAt, ...change[which] }
      },
      canaryKey: async () => ('key' in change ? change.key : 'the canary key'),
      nowMs: () => NOW_MS,
    },
    PROBE,
  ).catch((error: unknown) => String(error))
  return { result, asked }
}

describe('the probe of the front', () => {
  it('accepts the gateway as it answers, and reads the balance of the canary merchant', async () => {
    expect(await probeWith({})).toStrictEqual({
      result: { days: 60, canary: 'read' },
      asked: [PROBE.unknownKey, 'the canary key'],
    })
  })

  it('asks only with the unknown key while no operator has put a key', async () => {
    expect(await probeWith({ key: undefined })).toStrictEqual({
      result: { days: 60, canary: 'no key' },
      asked: [PROBE.unknownKey],
    })
  })

  it.each([
    ['the firewall answers an unknown key', { unknown: { status: 403, body: 'blocked' } }],
    ['another 401 than the envelope of the gateway', { unknown: { body: { message: 'no' } } }],
    ['the table cannot be read', { canary: { status: 500 } }],
    ['the canary merchant gets another answer', { canary: { body: {} } }],
    [
      'the certificate ends soon',
      { unknown: { certificateEndsAt: NOW_MS + LEAST_DAYS * DAY_MS - 1 } },
    ],
    ['the certificate has no readable end', { unknown: { certificateEndsAt: Number.NaN } }],
  ])('fails if %s', async (_, change) => {
    expect((await probeWith(change)).result).toMatch(/^Error: /)
  })

  it('runs every minute, is not repeated, and may read one secret', () => {
    const front = synthesisedFront(stageWith({}, 'prod'))
    const probe = { FunctionName: 'gateway-prod-probe-front' }

    expect(front.all('AWS::Lambda::Function')).toMatchObject([probe])
    expect(front.all('AWS::Lambda::EventInvokeConfig')).toMatchObject([{ MaximumRetryAttempts: 0 }])
    const [{ ScheduleExpression, Targets } = {}] = front.all('AWS::Events::Rule')
    expect(ScheduleExpression).toBe('rate(1 minute)')
    expect(JSON.parse(Object([Targets].flat()[0]).Input)).toStrictEqual({
      host: 'pay.example.com',
      unknownKey: unknownKey('prod'),
      keySecret: 'gateway/prod/canary-key',
    })
  })
})
