import { describe, expect, it } from 'vitest'
import { answersClients, functionName, queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { assertReservable, reservedConcurrency } from '../../../infra/stack/functions/reserved-concurrency.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OTHER_FIGURES, QUOTA_STAGES, stageWith } from '../../support/stage-options.ts'

const LAMBDA_NAME_LIMIT = 64

it('function names are within Lambda’s limit, even with the longest stage name', () => {
  const longest = MANIFEST.map((spec) => functionName('a'.repeat(20), spec).length)

  expect(Math.max(...longest)).toBeLessThanOrEqual(LAMBDA_NAME_LIMIT)
})

describe('environment of the functions', () => {
  it('contains the provider’s fee contract and call quota if the stage sets them', () => {
    const special = synthesised(OTHER_FIGURES)
      .each('AWS::Lambda::Function', 'Environment')
      .map((environment) => JSON.stringify(environment))

    for (const setting of [String.raw`\"providerFees\":\"invoiced\"`, String.raw`\"providerCallsPerMinute\":6000`]) {
      expect(special.filter((environment) => environment.includes(setting))).toHaveLength(MANIFEST.length)
    }
  })

  it('of a function that answers clients contains the sum of their reserved concurrency', () => {
    const prod = synthesised('prod').all('AWS::Lambda::Function')
    const answering = new Set(MANIFEST.filter(answersClients).map((spec) => functionName('prod', spec)))
    const reserved = prod
      .filter(({ FunctionName }) => answering.has(String(FunctionName)))
      .map(({ ReservedConcurrentExecutions: runs }) => Number(runs))
    const settings = JSON.stringify(prod).match(/"environments\\":\d+/g)

    const sum = reserved.reduce((runs, more) => runs + more)
    expect(settings).toStrictEqual(reserved.map(() => String.raw`"environments\":${sum}`))
    expect(sum).toBeGreaterThan(100)
  })
})

/** The default limit of an account, in concurrent runs. New accounts have less. */
const ACCOUNT_LIMIT = 1_000
/** Lambda requires 100. Schedules and operators need the rest. */
const LEFT_FOR_OTHERS = 200

const reservedIn = (stage: Parameters<typeof synthesised>[0]) =>
  Object.fromEntries(
    synthesised(stage)
      .ofType('AWS::Lambda::Function')
      .flatMap(({ properties: { FunctionName, ReservedConcurrentExecutions: runs } }) =>
        runs === undefined ? [] : [[String(FunctionName), Number(runs)]],
      ),
  )

const totalOf = (stage: Parameters<typeof reservedIn>[0]) =>
  Object.values(reservedIn(stage)).reduce((sum, runs) => sum + runs, 0)

describe('reserved concurrency', () => {
  it('in production exceeds each queue’s concurrency by one, for the release proof, and leaves enough for others', () => {
    const spare = MANIFEST.filter(({ trigger }) => trigger.kind === 'queue').map((spec) => {
      const started = queuesOf(spec.trigger).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0)
      return Number(reservedIn('prod')[functionName('prod', spec)]) - started
    })

    expect(new Set(spare)).toStrictEqual(new Set([1]))
    expect(totalOf('prod')).toBeLessThanOrEqual(ACCOUNT_LIMIT - LEFT_FOR_OTHERS)
  })

  it.each([
    ['for a function that does not exist', { 'api-creat-payment': 5 }, 'there is no function api-creat-payment'],
    // This includes the runs of the slow lane.
    ['without a spare run for a release', { 'deliver-webhook': 105 }, 'deliver-webhook needs 106'],
  ])('is refused %s', (_, reserved, message) => {
    expect(() => synthesised(stageWith({ reservedConcurrency: reserved }))).toThrow(message)
  })

  it('grows with the provider’s quota, and an error shows the total', () => {
    const prod = deployedStage('prod')
    const granted = (providerCallsPerMinute: number) =>
      stageWith({ settings: { ...prod.settings, providerCallsPerMinute }, accountConcurrency: 2_000 }, 'prod')
    const raisedBy = (callsPerMinute: number) =>
      MANIFEST.flatMap((spec) => {
        const { reservedConcurrentExecutions: runs } = reservedConcurrency(spec, granted(callsPerMinute))
        return runs === reservedConcurrency(spec, prod).reservedConcurrentExecutions ? [] : [[spec.name, runs] as const]
      })
    const [, , [, hundredfold] = ['', prod]] = QUOTA_STAGES
    const queued = synthesised(hundredfold)
      .ofType('AWS::Lambda::EventSourceMapping')
      .map(({ properties: { ScalingConfig } }) => Object(ScalingConfig)['MaximumConcurrency'])

    expect(queued).toStrictEqual(expect.arrayContaining([400, 87, 64]))
    expect(raisedBy(60_000)).toStrictEqual([
      ['deliver-webhook', 406],
      ['check-due-payments', 65],
      ['sync-slices', 88],
    ])
    expect(raisedBy(600)).toStrictEqual([])
    expect(() => assertReservable({ ...granted(60_000), accountConcurrency: 900 })).toThrow(
      `raise it to ${totalOf('prod') + 409 + 100}`,
    )
  })

  it('is refused if the account has fewer than 100 unreserved runs', () => {
    const total = totalOf('prod')
    const of = (accountConcurrency: number) => stageWith({ accountConcurrency }, 'prod')

    expect(() => assertReservable(of(total + 99))).toThrow(`${total} of accountConcurrency ${total + 99} leave fewer`)
    expect(() => assertReservable(of(total + 100))).not.toThrow()
  })
})
