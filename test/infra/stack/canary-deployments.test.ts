import { describe, expect, it } from 'vitest'
import { functionName, isHttp, runsByItself } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'

const template = synthesised(stageWith({ deployment: 'canary' }))
const HTTP = MANIFEST.filter((spec) => isHttp(spec) && !spec.lookup).map((spec) => functionName('dev', spec))
const ALIASED = MANIFEST.filter(runsByItself).map((spec) => `<${functionName('dev', spec)}>`)

const aliases = template.ofType('AWS::Lambda::Alias')
const tried = aliases.filter(({ properties }) => HTTP.includes(String(properties['FunctionName']).slice(1, -1)))
const groups = new Map(template.ofType('AWS::CodeDeploy::DeploymentGroup').map((group) => [group.logicalId, group]))

/** The deployment group that moves an alias. */
const groupOf = (alias: (typeof aliases)[number]) => {
  const { CodeDeployLambdaAliasUpdate: update } = Object(alias.updatePolicy)
  return groups.get(String(Object(update).DeploymentGroupName).replace(/^<(.*)>$/, '$1'))
}

describe('canary deployments', () => {
  it('give an alias to what runs by itself, and try what payments wait for', () => {
    expect(aliases.map(({ properties }) => properties['Name'])).toStrictEqual(ALIASED.map(() => 'live'))
    expect(aliases.map(({ properties }) => properties['FunctionName'])).toStrictEqual(ALIASED)
    expect(tried.map(groupOf)).not.toContain(undefined)
    expect(groups.size).toBe(tried.length)
    expect(template.ofType('AWS::Lambda::Version')).toHaveLength(ALIASED.length)
    // An alias can only be moved back to a version that is still there.
    expect(new Set(template.ofType('AWS::Lambda::Version').map(({ deletionPolicy }) => deletionPolicy))).toStrictEqual(
      new Set(['Retain']),
    )
  })

  it('have requests invoke the alias, which alone may be invoked', () => {
    const answering = MANIFEST.filter(isHttp).map((spec) => `<${functionName('dev', spec)}>`)
    const live = aliases
      .filter(({ properties }) => answering.includes(String(properties['FunctionName'])))
      .map(({ logicalId }) => `<${logicalId}>`)
    const invoked = template.each('AWS::ApiGatewayV2::Integration', 'IntegrationUri')
    const allowed = template
      .ofType('AWS::Lambda::Permission')
      .filter(({ properties }) => properties['Principal'] === 'apigateway.amazonaws.com')
      .map(({ properties }) => properties['FunctionName'])

    expect(invoked).toHaveLength(live.length)
    const named = (targets: readonly unknown[]) =>
      new Set(targets.map((target) => String(target).replace(/\.Arn$/, '')))
    expect(named(invoked)).toStrictEqual(new Set(live))
    expect(named(allowed)).toStrictEqual(new Set(live))
  })
})

describe('a deployment by alias alone', () => {
  const urgent = synthesised(stageWith({ deployment: 'alias-only' }))
  const wiring = (of: typeof urgent) =>
    ['AWS::Lambda::Alias', 'AWS::ApiGatewayV2::Integration', 'AWS::Lambda::Permission'].flatMap((type) =>
      of.ofType(type).map(({ logicalId, properties }) => ({ logicalId, ...properties, FunctionVersion: undefined })),
    )

  it('leaves the wiring of the API as a canary has it, so that changing over replaces nothing', () => {
    expect(wiring(urgent)).toStrictEqual(wiring(template))
  })

  it('asks no alarm and waits for nothing', () => {
    expect(urgent.resources.filter(({ type }) => type.startsWith('AWS::CodeDeploy::'))).toStrictEqual([])
    expect(urgent.ofType('AWS::Lambda::Alias').map(({ updatePolicy }) => updatePolicy)).toStrictEqual(
      ALIASED.map(() => undefined),
    )
  })
})
