import { describe, expect, it } from 'vitest'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'

const prod = synthesised('prod')

describe('trail of operators’ invocations', () => {
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
})
