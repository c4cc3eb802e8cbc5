import { describe, expect, it } from 'vitest'
import { functionName, type Role } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'

type Statement = { readonly Sid: string; readonly Action: unknown; readonly Resource: unknown }

const template = synthesised('prod')
const policies = template.ofType('AWS::IAM::ManagedPolicy').map(({ properties }) => ({
  name: String(properties['ManagedPolicyName']),
  statements: [Object(properties['PolicyDocument'])['Statement']].flat() as readonly Statement[],
}))
const INVOKE = { Sid: 'Invoke', Effect: 'Allow', Action: 'lambda:InvokeFunction' }

const arnOf = (name: string) => `arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:${name}`
const PROVER = arnOf('gateway-prod-prove-release')
const invokedBy = (role: Role): readonly string[] =>
  policies
    .filter(({ name }) => name === `gateway-prod-${role}`)
    .flatMap(({ statements }) => statements.filter(({ Sid }) => Sid === 'Invoke'))
    .flatMap(({ Resource }) => [Resource].flat().map(String))

describe('policies for people', () => {
  it('are told at every synthesis, each with the functions it reaches', () => {
    const told = template.messages.filter((message) => message.includes('/Duties: '))

    expect(told).toHaveLength(policies.length)
    for (const [index, { name, statements }] of policies.entries()) {
      const reached = statements.filter(({ Sid }) => Sid === 'Invoke').flatMap(({ Resource }) => [Resource].flat())
      expect(told[index]).toContain(`"${name}. For people who do this`)
      for (const arn of reached) expect(told[index]).toContain(String(arn).replace(/.*:gateway-prod-/, ''))
    }
  })

  it.each(['look', 'support', 'finance', 'admin'] as const)(
    'let %s invoke its functions, and do nothing else',
    (duty) => {
      const own = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator' && trigger.duty === duty)
      const statements = policies.find(({ name }) => name === `gateway-prod-${duty}`)?.statements

      expect(own.length).toBeGreaterThan(2)
      expect(statements).toStrictEqual([
        { ...INVOKE, Resource: own.map((spec) => arnOf(functionName('prod', spec))).toSorted() },
      ])
    },
  )

  it('let the deployer invoke what schedules start and what proves a release, and no action of an operator', () => {
    const scheduled = MANIFEST.filter(({ trigger }) => trigger.kind === 'schedule')
    const expected = [...scheduled.map((spec) => arnOf(functionName('prod', spec))), PROVER]

    expect(invokedBy('deploy')).toStrictEqual(expected.toSorted())
  })

  it('reach no function of another, name each whole, and each action is in one', () => {
    const all = (['look', 'support', 'finance', 'admin', 'deploy'] as const).flatMap(invokedBy)
    const started = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator' || trigger.kind === 'schedule')

    expect(new Set(all).size).toBe(all.length)
    const expected = [...started.map((spec) => arnOf(functionName('prod', spec))), PROVER]
    expect(all.toSorted()).toStrictEqual(expected.toSorted())
  })

  it('fit into what IAM takes, account and region written out', () => {
    for (const { statements } of policies) {
      const text = JSON.stringify(statements).replaceAll(/<AWS::\w+>/g, 'ap-southeast-3')

      expect(text.length).toBeLessThan(5_800)
    }
  })
})

it('an action that only looks may change nothing', () => {
  const looks = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator' && trigger.duty === 'look')
  const changes = looks.flatMap(({ name, table }) =>
    Object.keys(table)
      .filter((call) => /Put|Update|Delete/.test(call))
      .map((call) => [name, call]),
  )

  expect(looks.length).toBeGreaterThan(10)
  expect(changes).toStrictEqual([])
  expect(looks.flatMap(({ sends }) => sends)).toStrictEqual([])
})

it('nothing may update or delete an audit record', () => {
  const changes = MANIFEST.flatMap(({ name, table }) =>
    [...(table.UpdateItem ?? []), ...(table.DeleteItem ?? [])].map((kind) => [name, kind]),
  )

  expect(changes.length).toBeGreaterThan(20)
  expect(changes.filter(([, kind]) => kind === 'AUDIT')).toStrictEqual([])
})
