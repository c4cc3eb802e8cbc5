import { SynthesisMessageLevel } from 'aws-cdk-lib/cx-api'
import { describe, expect, it } from 'vitest'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OPTIONAL_STAGES } from '../../support/stage-options.ts'

describe('deployedStage', () => {
  it.each(['dev', 'prod', 'alice', 'a', 'pr-123', 'a'.repeat(20)])('accepts %s', (name) => {
    expect(deployedStage(name).settings.name).toBe(name)
  })

  it.each(['', 'Dev', 'my_stage', '-a', 'a-', 'a--b', '1st', 'a b', 'ä', 'a'.repeat(21), '../x'])(
    'refuses %j, which would not fit into names',
    (name) => {
      expect(() => deployedStage(name)).toThrow('a name is at most 20 lower-case letters')
    },
  )

  it.each(['local', 'test'])('refuses %s, which the local gateway keeps for itself', (name) => {
    expect(() => deployedStage(name)).toThrow('reserved for the local gateway')
  })
})

describe('a stage', () => {
  const dev = deployedStage('dev')
  const withSettings = (settings: object) => ({ ...dev, settings: { ...dev.settings, ...settings } })

  it.each([
    ['loopback webhooks', withSettings({ allowLoopbackWebhooks: true }), 'loopback'],
    ['a budget in a stage without a front', { ...dev, monthlyBudgetUsd: 1 }, 'monthlyBudgetUsd needs front'],
    [
      'a budget with too many readers',
      { ...deployedStage('prod'), alarmRecipients: Array.from({ length: 11 }, () => 'a@b.example') },
      'ten addresses',
    ],
    ['the name of the local gateway, however the settings were built', withSettings({ name: 'local' }), 'reserved'],
  ] as const)('refuses %s', (_, stage, message) => {
    expect(() => synthesised(stage)).toThrow(message)
  })
})

describe('the stacks of a stage', () => {
  const stacksOf = (stage: DeployedStage) =>
    synthesised(stage)
      .assembly.stacks.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, environment, dependencies, messages }) => ({
        id,
        environment: environment.name,
        after: dependencies.map((dependency) => dependency.id).filter((dependency) => !dependency.endsWith('.assets')),
        messages: messages.filter(({ level }) => level !== SynthesisMessageLevel.INFO).length,
      }))

  it.each(Object.entries(OPTIONAL_STAGES))(
    'deploy in the order data, gateway, operators, watch, and front where CloudFront is configured: %s',
    (_, stage) => {
      const id = `gateway-${stage.settings.name}`
      const here = { environment: 'aws://unknown-account/unknown-region', messages: 0 }
      const data = `${id}-data`
      const stacks = [
        { ...here, id, after: [data] },
        { ...here, id: data, after: [] },
        { ...here, id: `${id}-front`, environment: 'aws://unknown-account/us-east-1', after: [id] },
        { ...here, id: `${id}-operators`, after: [data] },
        { ...here, id: `${id}-watch`, after: [id] },
      ]

      expect(stacksOf(stage)).toStrictEqual(
        stacks.filter((stack) => stage.front !== 'none' || !stack.id.endsWith('-front')),
      )
    },
  )
})
