import { describe, expect, it } from 'vitest'
import {
  answersClients,
  functionName,
  routeKeyOf,
  runsByItself,
} from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type DeployedStage, deployedStage, stackNameOf } from '../../../infra/stack/stage.ts'
import { type StackTemplate, synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { EVERYTHING, NAMED, OPTIONAL_STAGES, stageWith } from '../../support/stage-options.ts'

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

it.each(['dev with a domain', 'dev behind CloudFront'])(
  'the domain of %s accepts connections without a client certificate',
  (what) => {
    const domain = synthesised(OPTIONAL_STAGES[what] ?? what).only('AWS::ApiGatewayV2::DomainName')
    expect(domain.properties['MutualTlsAuthentication']).toBeUndefined()
  },
)

function typesIn(name: string) {
  const { Resources } = synthesised(EVERYTHING).assembly.getStackByName(name).template as {
    readonly Resources: Readonly<Record<string, { readonly Type: string }>>
  }
  return new Map(Object.entries(Resources).map(([id, { Type }]) => [id, Type.replace('AWS::', '')]))
}

it('the stack of the API has room for 34 endpoints, with canaries and whatever options a stage has', () => {
  const gateway = typesIn('gateway-prod')
  const endpoint = [...gateway.keys()].filter((id) => /createpayment/i.test(id))
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

describe.each(templates)('the proof of a release of $what', ({ stage, template }) => {
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
    expect(idOf(NAMED)).toBe(idOf(deployedStage('dev')))
  })
})
