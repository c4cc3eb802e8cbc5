import { describe, expect, it } from 'vitest'
import { answersClients } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { stackNameOf } from '../../../infra/stack/stack-name-of.ts'
import { synthesised, synthesisedCopies, synthesisedFront } from '../../support/stack-template.ts'
import { EVERYTHING, OPTIONAL_STAGES, stageWith } from '../../support/stage-options.ts'

const templates = Object.entries(OPTIONAL_STAGES).map(([what, stage]) => ({
  what,
  stage,
  template: synthesised(stage),
}))
const fronts = templates.flatMap(({ what, stage }) =>
  stage.front === 'cloudfront'
    ? [{ what: `front of ${what}`, template: synthesisedFront(stage) }]
    : [],
)

const MAX_RESOURCES = 500

describe.each([...templates, ...fronts])('$what', ({ template }) => {
  it('is synthesised without a warning', () => {
    expect(template.messages).toStrictEqual([])
  })

  it('is ASCII, because CloudFormation answers with `?` for any other character', () => {
    expect(JSON.stringify([template.resources, template.outputs]).match(/[^ -~]+/g)).toBeNull()
  })

  it('fits into its stacks', () => {
    const numbers = Object.values(template.sizes)

    expect(Math.max(...numbers)).toBeLessThan(MAX_RESOURCES)
    // Stacks share no logical id: tests may read their resources as those of one template.
    expect(template.resources).toHaveLength(numbers.reduce((sum, number) => sum + number))
  })
})

describe.each(templates)('$what', ({ stage, template }) => {
  it('has stacks that deploy in the order data, gateway, operators, watch, and front with CloudFront', () => {
    const id = stackNameOf(stage)
    const region = 'aws://unknown-account/unknown-region'
    const front = [[`${id}-front`, 'aws://unknown-account/us-east-1', [id]]]

    const stacks = template.assembly.stacks.toSorted((a, b) => (a.id < b.id ? -1 : 1))

    const dependenciesOf = ({ dependencies }: (typeof stacks)[number]) =>
      dependencies
        .map((dependency) => dependency.id)
        .filter((stackId) => !stackId.endsWith('.assets'))
    expect(
      stacks.map((stack) => [stack.id, stack.environment.name, dependenciesOf(stack)]),
    ).toStrictEqual([
      [id, region, [`${id}-data`]],
      ...(stage.copies
        ? [[`${id}-copies`, `aws://unknown-account/${stage.copies.region}`, []]]
        : []),
      [`${id}-data`, region, []],
      ...(stage.front === 'none' ? [] : front),
      [`${id}-operators`, region, [`${id}-data`]],
      [`${id}-watch`, region, [id]],
    ])
  })

  it('keeps the logical ids of the functions, its table and its API', () => {
    const lasting = [
      'AWS::Lambda::Function',
      'AWS::DynamoDB::GlobalTable',
      'AWS::ApiGatewayV2::Api',
    ]
    const ids = (stackTemplate: typeof template) =>
      lasting.flatMap((type) => stackTemplate.ofType(type).map(({ logicalId }) => logicalId))

    expect(ids(template)).toStrictEqual(ids(synthesised('dev')))
  })
})

/** A lost region's stage may come back where its copies or its front are. */
it('all stacks of a stage fit into one region: no two of their resources have one name', () => {
  const names = [synthesised, synthesisedFront, synthesisedCopies].flatMap((make) =>
    make(EVERYTHING).resources.flatMap(({ type, properties }) => {
      const name = properties[`${type.split('::').at(-1)}Name`] ?? properties['Name']
      // An alias belongs to a function, and a domain has a record for each kind of address.
      const isOwn = typeof name === 'string' && !/::(Alias|RecordSet)$/.test(type)
      return isOwn ? [`${type} ${name}`] : []
    }),
  )

  expect(names.filter((name, at) => names.indexOf(name) !== at)).toStrictEqual([])
  expect(names.length).toBeGreaterThan(200)
})

function typesIn(name: string): ReadonlyMap<string, string> {
  const { Resources } = synthesised(EVERYTHING).assembly.getStackByName(name).template as {
    readonly Resources: Readonly<Record<string, { readonly Type: string }>>
  }
  return new Map(Object.entries(Resources).map(([id, { Type }]) => [id, Type.replace('AWS::', '')]))
}

it('the stack of the API has room for nineteen more endpoints with canaries, whatever options a stage has', () => {
  const gateway = typesIn('gateway-prod')
  const endpoint = [...gateway.keys()].filter((id) => /createpayment/i.test(id))
  // Version 1.0.0 has 15.
  const newEndpoints = 34 - MANIFEST.filter(answersClients).length

  expect(endpoint).toHaveLength(10)
  expect(gateway.size + newEndpoints * endpoint.length).toBeLessThanOrEqual(MAX_RESOURCES)
})

it('only the data stack has resources with data, so that no rollback of code touches them', () => {
  const dataTypes = [
    'DynamoDB::GlobalTable',
    'KMS::Key',
    'SQS::Queue',
    'SecretsManager::Secret',
    'SNS::Topic',
  ]
  const keptIn = (name: string) =>
    dataTypes.filter((type) => [...typesIn(name).values()].includes(type))

  expect(keptIn('gateway-prod-data')).toStrictEqual(dataTypes)
  for (const name of ['gateway-prod', 'gateway-prod-operators', 'gateway-prod-watch']) {
    expect(keptIn(name)).toStrictEqual([])
  }
})

it('an alias-only deployment has the wiring of a canary, so that a change of the kind replaces nothing; and it waits for nothing', () => {
  const aliasOnly = synthesised(stageWith({ deployment: 'alias-only' }))
  const wiring = (stackTemplate: typeof aliasOnly) =>
    ['AWS::Lambda::Alias', 'AWS::ApiGatewayV2::Integration', 'AWS::Lambda::Permission'].flatMap(
      (type) =>
        stackTemplate
          .ofType(type)
          .map(({ logicalId, properties }) => ({
            logicalId,
            ...properties,
            FunctionVersion: undefined,
          })),
    )

  expect(wiring(aliasOnly)).toStrictEqual(wiring(synthesised(stageWith({ deployment: 'canary' }))))
  expect(
    aliasOnly.resources.filter(({ type }) => type.startsWith('AWS::CodeDeploy::')),
  ).toStrictEqual([])
  expect(
    aliasOnly.ofType('AWS::Lambda::Alias').filter(({ updatePolicy }) => updatePolicy !== undefined),
  ).toStrictEqual([])
})
