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
  it('takes TLS 1.2 and later only, by IPv4 and IPv6', () => {
    expect(withDomain.only('AWS::ApiGatewayV2::DomainName').properties).toMatchObject({
      DomainNameConfigurations: [{ SecurityPolicy: 'TLS_1_2', IpAddressType: 'dualstack' }],
    })
    expect(withDomain.each('AWS::Route53::RecordSet', 'Type')).toStrictEqual(['A', 'AAAA'])
  })

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

  it('behind a front with a certificate refuses all others before a function runs: they get no connection', () => {
    expect(trusted(synthesised('prod'))).toStrictEqual({
      TruststoreUri: expect.stringMatching(/^s3:\/\/.+\/[0-9a-f]{64}\.pem$/),
    })
  })

  it('takes connections from anyone without a front, or before there is a certificate', () => {
    expect(trusted(behindFront)).toBeUndefined()
    expect(trusted(withDomain)).toBeUndefined()
  })

  it('is no part of a stage without one', () => {
    const types = new Set(plain.resources.map(({ type }) => type))

    expect([...types].filter((type) => /DomainName|Certificate|RecordSet|ApiMapping/.test(type))).toStrictEqual([])
  })

  it('is the origin’s name behind a front, which owns the stage’s name', () => {
    expect(behindFront.only('AWS::ApiGatewayV2::DomainName').properties['DomainName']).toBe('origin.api.pay.example')
    expect(behindFront.each('AWS::Route53::RecordSet', 'Name')).toStrictEqual([
      'origin.api.pay.example.',
      'origin.api.pay.example.',
    ])
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
