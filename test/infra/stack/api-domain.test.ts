import { describe, expect, it } from 'vitest'
import { synthesised } from '../../support/stack-template.ts'
import { DOMAIN, OPTIONAL_STAGES, stageWith } from '../../support/stage-options.ts'

/** It has a certificate for a front too, but no front. */
const withDomain = synthesised(OPTIONAL_STAGES['dev with a domain'] ?? stageWith({}))
const behindFront = synthesised(stageWith({ domain: DOMAIN, front: 'cloudfront' }))

describe('API domain', () => {
  const trusted = (template: typeof withDomain) =>
    template.only('AWS::ApiGatewayV2::DomainName').properties['MutualTlsAuthentication']

  it('takes connections from anyone without a front, or before there is a certificate', () => {
    expect(trusted(behindFront)).toBeUndefined()
    expect(trusted(withDomain)).toBeUndefined()
  })

  it.each(['api.pay.example.org', 'apipay.example', 'example'])('refuses %s, which is not in its zone', (name) => {
    expect(() => synthesised(stageWith({ domain: { ...DOMAIN, name } }))).toThrow('is no name of the zone pay.example')
  })
})
