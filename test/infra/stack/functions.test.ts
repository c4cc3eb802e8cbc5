import { describe, expect, it } from 'vitest'
import { answersClients, functionName, queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import {
  assertReservable,
  reservedConcurrency,
} from '../../../infra/stack/settings/reserved-concurrency.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import { DeployedSettings } from '../../../shared/stage-settings.ts'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING, OTHER_FIGURES, QUOTA_STAGES, stageWith } from '../../support/stage-options.ts'
import { functionBundles } from '../reachable/function-bundles.ts'

it('function names are within Lambda’s limit, even with the longest stage name', () => {
  const longest = MANIFEST.map((spec) => functionName('a'.repeat(20), spec).length)

  expect(Math.max(...longest)).toBeLessThanOrEqual(64)
})

it('every endpoint of merchants is a look-up, except those that get canaries: payments, balance and settlements', () => {
  const withCanary = MANIFEST.filter((spec) => answersClients(spec) && !spec.lookup)

  expect(withCanary.map(({ name }) => name)).toStrictEqual([
    'api-create-payment',
    'api-list-payments',
    'api-get-payment',
    'api-cancel-payment',
    'api-get-balance',
    'api-list-settlements',
    'api-get-settlement',
  ])
})

describe('environment of the functions', () => {
  it('has every setting of shared/stage-settings.ts that its code reads, in a stage that sets it', async () => {
    const everySetting = stageWith(
      {
        ...EVERYTHING,
        role: 'closed',
        deployment: 'alias-only',
        settings: { ...OTHER_FIGURES.settings, keyLifetimeDays: 90 },
      },
      'prod',
    )
    const handed = new Map(
      synthesised(everySetting)
        .all('AWS::Lambda::Function')
        .map(({ FunctionName, Environment }) => [
          FunctionName,
          JSON.parse(Object(Environment).Variables?.[ENV.settings] ?? '{}'),
        ]),
    )
    const bundles = await functionBundles()
    const names = Object.keys(DeployedSettings.entries)
    const readings = MANIFEST.flatMap((spec) =>
      names
        .filter((name) => readsSetting(name).test(bundles.get(spec.name) ?? ''))
        .map((name) => ({ name, reader: functionName('dev', spec) })),
    )

    expect(new Set(readings.map(({ name }) => name))).toStrictEqual(new Set(names))
    expect(readings.filter(({ name, reader }) => !(name in handed.get(reader)))).toStrictEqual([])
  })

  it('of a function that answers clients contains the sum of their reserved concurrency', () => {
    const runs = reservedInProd()
    const reserved = MANIFEST.filter(answersClients).flatMap(
      (spec) => runs[functionName('prod', spec)] ?? [],
    )
    const prod = synthesised('prod').all('AWS::Lambda::Function')
    const settings = JSON.stringify(prod).match(/"environments\\":\d+/g)

    const sum = reserved.reduce((all, own) => all + own)
    expect(settings).toStrictEqual(reserved.map(() => String.raw`"environments\":${sum}`))
    expect(sum).toBeGreaterThan(100)
  })
})

/** `stage.name`, or `{ name } = deps.stage`. */
function readsSetting(name: string) {
  return new RegExp(`\\.${name}\\b|\\b${name}\\b[^{}]*\\} = `)
}

function reservedInProd() {
  return Object.fromEntries(
    synthesised('prod')
      .ofType('AWS::Lambda::Function')
      .flatMap(({ properties: { FunctionName, ReservedConcurrentExecutions: runs } }) =>
        runs === undefined ? [] : [[String(FunctionName), Number(runs)]],
      ),
  )
}

function totalOfProd() {
  return Object.values(reservedInProd()).reduce((sum, runs) => sum + runs, 0)
}

describe('reserved concurrency', () => {
  it('in production exceeds each queue’s concurrency by one, for the release proof, and leaves enough for others', () => {
    const spare = MANIFEST.filter(({ trigger }) => trigger.kind === 'queue').map((spec) => {
      const runs = Number(reservedInProd()[functionName('prod', spec)])
      return queuesOf(spec.trigger).reduce((left, one) => left - one.maxConcurrency, runs)
    })

    expect(new Set(spare)).toStrictEqual(new Set([1]))
    // Of the 1,000 runs of an account, Lambda requires 100 for others. Schedules and operators need
    // 100 more.
    expect(totalOfProd()).toBeLessThanOrEqual(800)
  })

  it.each([
    [
      'for a function that does not exist',
      { 'api-creat-payment': 5 },
      'there is no function api-creat-payment',
    ],
    // This includes the runs of the slow lane.
    ['without a spare run for a release', { 'deliver-webhook': 105 }, 'deliver-webhook needs 106'],
  ])('is refused %s', (_, reserved, message) => {
    expect(() => synthesised(stageWith({ reservedConcurrency: reserved }))).toThrow(message)
  })

  it('grows with the provider’s quota, and an error shows the total', () => {
    const prod = deployedStage('prod')
    const granted = (providerCallsPerMinute: number) =>
      stageWith(
        { settings: { ...prod.settings, providerCallsPerMinute }, accountConcurrency: 2_000 },
        'prod',
      )
    const raisedBy = (callsPerMinute: number) =>
      MANIFEST.flatMap((spec) => {
        const { reservedConcurrentExecutions: runs } = reservedConcurrency(
          spec,
          granted(callsPerMinute),
        )
        return runs === reservedConcurrency(spec, prod).reservedConcurrentExecutions
          ? []
          : [[spec.name, runs]]
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
      `raise it to ${totalOfProd() + 409 + 100}`,
    )
  })

  it('is refused if the account has fewer than 100 unreserved runs', () => {
    const total = totalOfProd()
    const reserve = (accountConcurrency: number) => () =>
      assertReservable(stageWith({ accountConcurrency }, 'prod'))

    expect(reserve(total + 99)).toThrow(`${total} of accountConcurrency ${total + 99} leave fewer`)
    expect(reserve(total + 100)).not.toThrow()
  })
})
