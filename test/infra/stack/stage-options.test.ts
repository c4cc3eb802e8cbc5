import { describe, expect, it } from 'vitest'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { proverNameOf } from '../../../infra/stack/stack-name-of.ts'
import { synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { OPTIONAL_STAGES, OTHER_FIGURES } from '../../support/stage-options.ts'

const templates = Object.entries(OPTIONAL_STAGES).map(([what, stage]) => ({
  what,
  stage,
  template: synthesised(stage),
}))
const fronts = Object.values(OPTIONAL_STAGES)
  .filter(({ front }) => front === 'cloudfront')
  .map((stage) => ({ what: `front of ${stage.settings.name}`, template: synthesisedFront(stage) }))

describe('every stage, whatever its options', () => {
  it.each([...templates, ...fronts])('$what keeps every log for 14 days', ({ template }) => {
    const retentions = template.each('AWS::Logs::LogGroup', 'RetentionInDays')

    expect(retentions.length).toBeGreaterThan(1)
    expect(new Set(retentions)).toStrictEqual(new Set([14]))
  })

  it.each([...templates, ...fronts])('$what is made without a warning', ({ template }) => {
    // Ours say whom to give which policy; from 400 resources on CDK says how many a stack has.
    const remarks = /^info .*(?:\/Duties: |Number of resources: \d+ is approaching allowed maximum of 500)/
    expect(template.messages.filter((message) => !remarks.test(message))).toStrictEqual([])
  })

  it.each([...templates, ...fronts])('$what fits into its stacks', ({ template: { sizes, resources } }) => {
    const numbers = Object.values(sizes)

    // CloudFormation takes 500 resources: room is left for whoever needs it before a third stack is made.
    expect(Math.max(...numbers)).toBeLessThan(450)
    // No name of a stack’s is one of another’s, so that tests may look at both as one.
    expect(resources).toHaveLength(numbers.reduce((sum, number) => sum + number))
  })

  it.each(templates)(
    '$what has the functions of the manifest, what proves a release, and none that CDK would add',
    ({ stage, template }) => {
      const names = MANIFEST.map((spec) => functionName(stage.settings.name, spec))

      expect(template.each('AWS::Lambda::Function', 'FunctionName').map(String).toSorted()).toStrictEqual(
        [...names, proverNameOf(stage)].toSorted(),
      )
      expect(fronts.flatMap((front) => front.template.ofType('AWS::Lambda::Function'))).toStrictEqual([])
    },
  )

  it.each(templates)(
    '$what gives its functions inline policies only, so that none is shared or managed elsewhere',
    ({ template }) => {
      expect(template.ofType('AWS::IAM::Policy')).toStrictEqual([])
      expect(
        template.ofType('AWS::IAM::Role').filter(({ properties }) => properties['ManagedPolicyArns']),
      ).toStrictEqual([])
    },
  )

  it.each(templates)('$what keeps the logical ids of the functions, its table and its API', ({ template }) => {
    const lasting = ['AWS::Lambda::Function', 'AWS::DynamoDB::GlobalTable', 'AWS::ApiGatewayV2::Api']
    const ids = (of: typeof template) => lasting.flatMap((type) => of.ofType(type).map(({ logicalId }) => logicalId))

    expect(ids(template)).toStrictEqual(ids(synthesised('dev')))
  })

  it.each(templates)('$what needs no account, region or lookup to be made', ({ template }) => {
    const text = JSON.stringify([template.resources, template.outputs])

    expect(text).not.toMatch(/\b\d{12}\b/)
    expect(text).not.toMatch(/dummy/i)
  })
})

it('log level is the stage’s on every function, and Lambda itself writes only what failed', () => {
  const quiet = synthesised(OTHER_FIGURES).ofType('AWS::Lambda::Function')

  expect(quiet.length).toBeGreaterThan(MANIFEST.length)
  for (const { properties } of quiet) {
    expect(properties['LoggingConfig']).toMatchObject({ ApplicationLogLevel: 'WARN', SystemLogLevel: 'WARN' })
  }
})
