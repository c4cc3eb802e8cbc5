import { describe, expect, it } from 'vitest'
import { functionName, routeKeyOf, runsByItself } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { type StackTemplate, synthesised } from '../../support/stack-template.ts'
import { OPTIONAL_STAGES, stageWith } from '../../support/stage-options.ts'

const PROVEN = MANIFEST.filter(runsByItself)
const OPERATED = MANIFEST.filter((spec) => !runsByItself(spec))

const STAGES = Object.entries(OPTIONAL_STAGES).map(([what, stage]) => ({ what, stage, template: synthesised(stage) }))
const withAliases = ({ stage }: { readonly stage: DeployedStage }) => stage.deployment !== 'all-at-once'

const proofOf = (template: StackTemplate) => template.only('Custom::ReleaseProof')

/** What the proof asks, by the name of the function. */
const asksOf = (template: StackTemplate) =>
  [proofOf(template).properties['Asks']]
    .flat()
    .map((ask) => ({ target: String(Object(ask).Target), route: Object(ask).Route }))

/** The versions of a template, by the name of their function. */
const versionsOf = (template: StackTemplate) =>
  new Map(
    template
      .ofType('AWS::Lambda::Version')
      .map(({ logicalId, properties }) => [String(properties['FunctionName']), `<${logicalId}>`]),
  )

const HELD_BACK = ['AWS::Lambda::Alias', 'AWS::Lambda::EventSourceMapping', 'AWS::Events::Rule']

describe('the proof of a release', () => {
  it.each(STAGES.filter(withAliases))(
    'of $what waits for every new version, and asks each once',
    ({ stage, template }) => {
      const versions = versionsOf(template)

      expect(asksOf(template).map(({ target }) => target)).toStrictEqual(
        PROVEN.map((spec) => versions.get(`<${functionName(stage.settings.name, spec)}>`)),
      )
      expect(versions.size).toBe(PROVEN.length)
    },
  )

  it.each(STAGES.filter((one) => !withAliases(one)))('of $what asks each function itself', ({ stage, template }) => {
    expect(asksOf(template).map(({ target }) => target)).toStrictEqual(
      PROVEN.map((spec) => `<${functionName(stage.settings.name, spec)}>.Arn`),
    )
  })

  it('asks what answers clients by its route, and all else by the probe of any function', () => {
    const routes = asksOf(synthesised('dev')).map(({ route }) => route)

    expect(routes).toStrictEqual(
      PROVEN.map((spec) =>
        spec.name.startsWith('api-') && spec.name !== 'api-not-found' ? routeKeyOf(spec) : undefined,
      ),
    )
    expect(routes).toContain('POST /v1/payments')
  })

  it.each(STAGES)('of $what comes before every alias, queue and schedule', ({ template }) => {
    const { logicalId } = proofOf(template)
    const later = HELD_BACK.flatMap((type) => template.ofType(type))

    expect(later.length).toBeGreaterThan(10)
    expect(later.filter(({ dependsOn }) => !dependsOn.includes(logicalId))).toStrictEqual([])
  })

  it('ends before CloudFormation gives it up, and both within minutes', () => {
    const template = synthesised('prod')
    const prover = template
      .all('AWS::Lambda::Function')
      .find(({ FunctionName }) => FunctionName === 'gateway-prod-prove-release')

    expect(prover).toMatchObject({ Timeout: 330 })
    expect(proofOf(template).properties).toMatchObject({
      ServiceToken: '<gateway-prod-prove-release>.Arn',
      ServiceTimeout: '360',
    })
  })

  const { settings, table } = deployedStage('dev')
  const plain = stageWith({ deployment: 'alias-only' })

  it('is made anew when the configuration of a function changes', () => {
    const changed = synthesised({ ...plain, settings: { ...settings, clientRateLimit: 1 } })

    expect(proofOf(changed).logicalId).not.toBe(proofOf(synthesised(plain)).logicalId)
  })

  it('is made anew when roles alone change, which makes no version', () => {
    const changed = synthesised({ ...plain, table: { ...table, encryption: 'customer' } })

    expect(versionsOf(changed)).toStrictEqual(versionsOf(synthesised(plain)))
    expect(proofOf(changed).logicalId).not.toBe(proofOf(synthesised(plain)).logicalId)
  })

  it('stays when nothing of what runs changes', () => {
    const other = stageWith({ alarmRecipients: ['oncall@gateway.example.org'] })

    expect(proofOf(synthesised(other)).logicalId).toBe(proofOf(synthesised('dev')).logicalId)
  })
})

describe('the function that asks', () => {
  it.each(STAGES)(
    'of $what may invoke these versions, operators’ functions for the doctor, and nothing else',
    ({ stage, template }) => {
      const name = `gateway-${stage.settings.name}-prove-release`
      const { properties } =
        template.ofType('AWS::Lambda::Function').find((one) => one.properties['FunctionName'] === name) ?? {}
      const roleId = String(properties?.['Role']).replace(/^<(.*)>\.Arn$/, '$1')
      const role = template.ofType('AWS::IAM::Role').find(({ logicalId }) => logicalId === roleId)

      const { name: stageName } = stage.settings
      const operated = OPERATED.map(
        (spec) =>
          `arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:${functionName(stageName, spec)}`,
      )
      const invoked = [...asksOf(template).map(({ target }) => target), ...operated]
      expect(role?.properties['Policies']).toMatchObject([
        {
          PolicyDocument: {
            Statement: [
              { Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: `</aws/lambda/${name}>.Arn` },
              { Action: 'lambda:InvokeFunction', Resource: expect.toSatisfy((all) => isSame(all, invoked)) },
            ],
          },
        },
      ])
    },
  )
})

const isSame = (found: unknown, expected: readonly string[]) =>
  JSON.stringify([found].flat().map(String).toSorted()) === JSON.stringify(expected.toSorted())
