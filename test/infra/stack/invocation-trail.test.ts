import { describe, expect, it } from 'vitest'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'

const prod = synthesised('prod')

describe('trail of operators’ invocations', () => {
  it('is the choice of the stage: production has one', () => {
    expect(prod.ofType('AWS::CloudTrail::Trail')).toHaveLength(1)
    expect(synthesised('dev').resources.filter(({ type }) => /CloudTrail|S3/.test(type))).toStrictEqual([])
  })

  it('records every call of an operator’s function, and no other event of the account', () => {
    const { properties } = prod.only('AWS::CloudTrail::Trail')
    const operated = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')

    expect(properties).toMatchObject({
      TrailName: 'gateway-prod-invocations',
      IsLogging: true,
      EnableLogFileValidation: true,
      EventSelectors: [
        {
          IncludeManagementEvents: false,
          DataResources: [
            {
              Type: 'AWS::Lambda::Function',
              Values: operated.map((spec) => `<${functionName('prod', spec)}>.Arn`),
            },
          ],
        },
      ],
    })
    expect(Object(properties['EventSelectors'])).toHaveLength(1)
    // As many as CloudTrail takes.
    expect(operated.length).toBeLessThan(250)
  })

  it('is kept where it cannot be deleted or changed for 400 days, nor read from outside', () => {
    const bucket = prod.only('AWS::S3::Bucket')

    expect(bucket).toMatchObject({
      deletionPolicy: 'Retain',
      properties: {
        ObjectLockEnabled: true,
        ObjectLockConfiguration: {
          ObjectLockEnabled: 'Enabled',
          Rule: { DefaultRetention: { Days: 400, Mode: 'COMPLIANCE' } },
        },
        VersioningConfiguration: { Status: 'Enabled' },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        LifecycleConfiguration: {
          Rules: [{ ExpirationInDays: 401, NoncurrentVersionExpiration: { NoncurrentDays: 1 } }],
        },
      },
    })
  })
})
