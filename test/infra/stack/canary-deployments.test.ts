import { describe, expect, it } from 'vitest'
import { runsByItself } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'

const template = synthesised(stageWith({ deployment: 'canary' }))
const ALIASED = MANIFEST.filter(runsByItself)

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
