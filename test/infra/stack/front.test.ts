import { describe, expect, it } from 'vitest'
import { synthesisedFront } from '../../support/stack-template.ts'
import { DOMAIN, stageWith } from '../../support/stage-options.ts'

const stage = stageWith({ domain: DOMAIN, front: 'cloudfront' })
const front = synthesisedFront(stage)

const distributionOf = (template: typeof front) =>
  Object(template.only('AWS::CloudFront::Distribution').properties['DistributionConfig'])

describe('the budget of a stage', () => {
  it('is none where the stage names no amount', () => {
    expect(front.ofType('AWS::Budgets::Budget')).toStrictEqual([])
  })
})

describe('CloudFront before the API', () => {
  it('changes when the secret is rotated, since CloudFormation reads it again only then', () => {
    const rotated = synthesisedFront({ ...stage, frontSettings: { ...stage.frontSettings, originSecretRotation: 2 } })

    expect(distributionOf(rotated).Comment).not.toBe(distributionOf(front).Comment)
  })

  it('refers to nothing in the gateway’s stack, which is in another region', () => {
    expect(JSON.stringify([front.resources, front.outputs])).not.toMatch(/ImportValue|GetStackOutput|ExportsOutput/)
  })

  it('is refused without a domain', () => {
    expect(() => synthesisedFront(stageWith({ front: 'cloudfront' }))).toThrow('CloudFront needs a domain')
  })
})
