import { describe, expect, it } from 'vitest'
import { isHttp } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'
import { DOMAIN, OPTIONAL_STAGES, stageWith } from '../../support/stage-options.ts'

/** It has a certificate for a front too, but no front. */
const withDomain = synthesised(OPTIONAL_STAGES['dev with a domain'] ?? stageWith({}))
const behindFront = synthesised(stageWith({ domain: DOMAIN, front: 'cloudfront' }))
const plain = synthesised('dev')

describe('API domain', () => {
  it.each([
    ['with', withDomain, true],
    ['without', plain, false],
    ['behind the front’s', behindFront, true],
  ])('closes the address API Gateway makes up, and is told to what answers HTTP: %s a domain', (_, template, has) => {
    const told = template
      .all('AWS::Lambda::Function')
      .filter(({ Environment }) => JSON.stringify(Environment).includes('"GATEWAY_DOMAIN":"api.pay.example"'))

    expect(template.only('AWS::ApiGatewayV2::Api').properties).toMatchObject({ DisableExecuteApiEndpoint: has })
    // For HSTS.
    expect(told).toHaveLength(has ? MANIFEST.filter(isHttp).length : 0)
  })

  const trusted = (template: typeof plain) =>
    template.only('AWS::ApiGatewayV2::DomainName').properties['MutualTlsAuthentication']

  it('takes connections from anyone without a front, or before there is a certificate', () => {
    expect(trusted(behindFront)).toBeUndefined()
    expect(trusted(withDomain)).toBeUndefined()
  })

  it.each([
    ['with a domain', withDomain],
    ['behind a front', behindFront],
  ])('is what the output tells clients to call, %s', (_, { outputs }) => {
    expect(outputs['ApiUrl']).toMatchObject({ Value: 'https://api.pay.example' })
  })

  it.each(['api.pay.example.org', 'apipay.example', 'example'])('refuses %s, which is not in its zone', (name) => {
    expect(() => synthesised(stageWith({ domain: { ...DOMAIN, name } }))).toThrow('is no name of the zone pay.example')
  })
})
