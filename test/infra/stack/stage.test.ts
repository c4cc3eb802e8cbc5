import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { SynthesisMessageLevel } from 'aws-cdk-lib/cx-api'
import { afterAll, describe, expect, it } from 'vitest'
import cdkJson from '../../../cdk.json' with { type: 'json' }
import { addStacks } from '../../../infra/stack/add-stacks.ts'
import { GatewayStack } from '../../../infra/stack/gateway-stack.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { OPTIONAL_STAGES } from '../../support/stage-options.ts'

const directory = mkdtempSync(join(tmpdir(), 'gateway-stage-'))

afterAll(() => {
  rmSync(directory, { recursive: true })
})

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

  it.each(['dev', 'prod'])('sweeps %s at 02:00 UTC by default', (name) => {
    expect(deployedStage(name).sweepAtUtc).toStrictEqual({ hour: 2, minute: 0 })
  })

  it('protects production alone', () => {
    expect(deployedStage('prod').deletionProtection).toBe(true)
    expect(deployedStage('prod2').deletionProtection).toBe(false)
  })
})

describe('GatewayStack', () => {
  const dev = deployedStage('dev')
  const withSettings = (settings: object, stage = dev) => ({ ...stage, settings: { ...stage.settings, ...settings } })
  const sweeping = (hour: number, minute: number) => ({ ...dev, sweepAtUtc: { hour, minute } })
  const NO_FEES = 'providerFees is one of deducted, invoiced'

  it.each([
    ...['dev', 'prod', 'alice'].map(
      (name) =>
        [
          `loopback in ${name}`,
          withSettings({ allowLoopbackWebhooks: true }, deployedStage(name)),
          'loopback',
        ] as const,
    ),
    ['hour 24', sweeping(24, 0), 'sweepAtUtc'],
    ['hour -1', sweeping(-1, 0), 'sweepAtUtc'],
    ['hour 2.5', sweeping(2.5, 0), 'sweepAtUtc'],
    ['minute 60', sweeping(2, 60), 'sweepAtUtc'],
    ['a minute that is no number', sweeping(2, Number.NaN), 'sweepAtUtc'],
    ['fees as Invoiced', withSettings({ providerFees: 'Invoiced' }), NO_FEES],
    ['fees as none', withSettings({ providerFees: 'none' }), NO_FEES],
    ['fees as nothing', withSettings({ providerFees: '' }), NO_FEES],
    ...[0, -1, 1.5, 1_000_001].map(
      (calls) => [`${calls} calls a minute`, withSettings({ providerCallsPerMinute: calls }), 'whole number'] as const,
    ),
    ['the name of the local gateway, whoever built the settings', withSettings({ name: 'local' }), 'reserved'],
  ] as const)('refuses %s', (_, stage, message) => {
    expect(() => new GatewayStack(new App({ outdir: directory }), 'gateway', { stage })).toThrow(message)
  })
})

describe('the stacks of a stage', () => {
  const stacksOf = (stage: DeployedStage) => {
    const outdir = mkdtempSync(join(directory, 'stacks-'))
    const app = new App({ outdir, context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] } })
    addStacks(app, stage)
    return app.synth().stacks.map(({ id, environment, dependencies, messages }) => ({
      id,
      environment: environment.name,
      after: dependencies.map((dependency) => dependency.id).filter((dependency) => !dependency.endsWith('.assets')),
      messages: messages.filter(({ level }) => level !== SynthesisMessageLevel.INFO).length,
    }))
  }

  it.each(Object.entries(OPTIONAL_STAGES))(
    'are two, what runs and behind it what watches, and a front where CloudFront is configured: %s',
    (_, stage) => {
      const id = `gateway-${stage.settings.name}`
      const here = { environment: 'aws://unknown-account/unknown-region', messages: 0 }
      const stacks = [
        { ...here, id, after: [] },
        { ...here, id: `${id}-front`, environment: 'aws://unknown-account/us-east-1', after: [id] },
        { ...here, id: `${id}-watch`, after: [id] },
      ]

      expect(stacksOf(stage)).toStrictEqual(
        stacks.filter((stack) => stage.front !== 'none' || !stack.id.endsWith('-front')),
      )
    },
  )
})
