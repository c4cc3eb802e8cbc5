import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { afterAll, describe, expect, it } from 'vitest'
import { GatewayStack } from '../../../infra/stack/gateway-stack.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'

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
  it.each(['dev', 'prod', 'alice'])('refuses webhooks to loopback addresses in stage %s', (name) => {
    const stage = deployedStage(name)
    const loopback: DeployedStage = { ...stage, settings: { ...stage.settings, allowLoopbackWebhooks: true } }

    expect(() => new GatewayStack(new App({ outdir: directory }), 'gateway', { stage: loopback })).toThrow('loopback')
  })

  it.each([
    { hour: 24, minute: 0 },
    { hour: -1, minute: 0 },
    { hour: 2, minute: 60 },
    { hour: 2.5, minute: 0 },
    { hour: 2, minute: Number.NaN },
  ])('refuses to sweep at %o, which is no time of day', (sweepAtUtc) => {
    const stage = { ...deployedStage('dev'), sweepAtUtc }

    expect(() => new GatewayStack(new App({ outdir: directory }), 'gateway', { stage })).toThrow('sweepAtUtc')
  })

  it.each(['Invoiced', 'none', ''])('refuses %j for how the provider takes its fees', (providerFees) => {
    const stage = deployedStage('dev')
    const unknown = { ...stage, settings: { ...stage.settings, providerFees } } as DeployedStage

    expect(() => new GatewayStack(new App({ outdir: directory }), 'gateway', { stage: unknown })).toThrow(
      'providerFees is one of deducted, invoiced',
    )
  })

  it('refuses the name of the local gateway, whoever built the settings', () => {
    const stage = deployedStage('dev')
    const local: DeployedStage = { ...stage, settings: { ...stage.settings, name: 'local' } }

    expect(() => new GatewayStack(new App({ outdir: directory }), 'gateway', { stage: local })).toThrow('reserved')
  })
})
