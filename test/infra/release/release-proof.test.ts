import { describe, expect, it } from 'vitest'
import { functionName, routeKeyOf, runsByItself } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { type StackTemplate, synthesised } from '../../support/stack-template.ts'
import { OPTIONAL_STAGES, stageWith } from '../../support/stage-options.ts'

const PROVEN = MANIFEST.filter(runsByItself)

function proofOf(template: StackTemplate) {
  return template.only('Custom::ReleaseProof')
}

function versionsOf(template: StackTemplate) {
  return new Map(
    template
      .ofType('AWS::Lambda::Version')
      .map(({ logicalId, properties }) => [String(properties['FunctionName']), `<${logicalId}>`]),
  )
}

function asksOf(template: StackTemplate) {
  return [proofOf(template).properties['asks']]
    .flat()
    .map((ask) => Object(ask) as { target: string; route?: string })
}

describe.each(Object.entries(OPTIONAL_STAGES))('the proof of a release of %s', (_, stage) => {
  const template = synthesised(stage)

  it('probes each new version once, or each function itself without aliases', () => {
    const versions = versionsOf(template)
    const hasAliases = stage.deployment !== 'all-at-once'
    const names = PROVEN.map((spec) => `<${functionName(stage.settings.name, spec)}>`)

    expect(asksOf(template).map(({ target }) => target)).toStrictEqual(
      names.map((name) => (hasAliases ? versions.get(name) : `${name}.Arn:$LATEST`)),
    )
    expect(versions.size).toBe(hasAliases ? PROVEN.length : 0)
  })

  it('comes before every alias, queue and schedule', () => {
    const schedules = template
      .ofType('AWS::Events::Rule')
      .filter(({ properties }) => properties['ScheduleExpression'] !== undefined)
    const types = ['AWS::Lambda::Alias', 'AWS::Lambda::EventSourceMapping']
    const laterResources = [...types.flatMap((type) => template.ofType(type)), ...schedules]

    expect(laterResources.length).toBeGreaterThan(10)
    expect(
      laterResources.filter(({ dependsOn }) => !dependsOn.includes(proofOf(template).logicalId)),
    ).toStrictEqual([])
  })
})

it('the prover may invoke every version, and is denied every live alias', () => {
  const { ofType } = synthesised('prod')
  const [statements = []] = ofType('AWS::IAM::Role')
    .filter(({ logicalId }) => logicalId.startsWith('ReleaseRole'))
    .flatMap(({ properties }) => Object(properties['Policies']))
    .map(({ PolicyDocument }): Record<string, unknown>[] => PolicyDocument.Statement)
  const invoking = (effect: string) =>
    statements
      .filter(({ Effect, Action }) => Effect === effect && String(Action).includes('lambda:Invoke'))
      .flatMap(({ Resource }) => [Resource].flat().map(String))

  expect(invoking('Allow')).toHaveLength(MANIFEST.length)
  expect(invoking('Allow').filter((resource) => /:live$|\*/.test(resource))).toStrictEqual([])
  expect(invoking('Deny')).toStrictEqual([expect.stringMatching(/:function:\*:live$/)])
})

it('the proof calls client functions by their routes, and all other functions by their probes', () => {
  const routes = asksOf(synthesised('dev')).map(({ route }) => route)

  expect(routes).toStrictEqual(
    PROVEN.map((spec) =>
      spec.name.startsWith('api-') && spec.name !== 'api-not-found' ? routeKeyOf(spec) : undefined,
    ),
  )
  expect(routes).toContain('POST /v1/payments')
})

describe('the proof of a release runs again', () => {
  const plain = stageWith({ deployment: 'alias-only' })
  const idOf = (stage: DeployedStage) => proofOf(synthesised(stage)).logicalId

  it('when the configuration of a function changes', () => {
    expect(idOf({ ...plain, settings: { ...plain.settings, clientRateLimit: 1 } })).not.toBe(
      idOf(plain),
    )
  })

  it('when only roles change, which creates no version', () => {
    const changedStage = { ...plain, table: { ...plain.table, encryption: 'customer' as const } }

    expect(versionsOf(synthesised(changedStage))).toStrictEqual(versionsOf(synthesised(plain)))
    expect(idOf(changedStage)).not.toBe(idOf(plain))
  })

  it('but not when only settings outside the functions change', () => {
    const named = { alarmRecipients: ['oncall@gateway.example.org'], invocationTrail: true }

    expect(idOf(stageWith(named))).toBe(idOf(deployedStage('dev')))
  })
})
