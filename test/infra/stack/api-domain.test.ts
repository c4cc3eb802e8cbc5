import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isHttp } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { DOMAIN, stageWith } from '../../support/stage-options.ts'

const withDomain = synthesised(stageWith({ domain: DOMAIN }))
const behindFront = synthesised(stageWith({ domain: DOMAIN, front: 'cloudfront' }))
const plain = synthesised('dev')

describe('API domain', () => {
  it('has a certificate that the hosted zone proves, and takes TLS 1.2 and later only', () => {
    const certificate = withDomain.only('AWS::CertificateManager::Certificate')

    expect(certificate.properties).toMatchObject({
      DomainName: 'api.pay.example',
      ValidationMethod: 'DNS',
      DomainValidationOptions: [{ DomainName: 'api.pay.example', HostedZoneId: DOMAIN.zone.id }],
    })
    expect(withDomain.only('AWS::ApiGatewayV2::DomainName').properties).toMatchObject({
      DomainName: 'api.pay.example',
      DomainNameConfigurations: [
        {
          CertificateArn: `<${certificate.logicalId}>`,
          EndpointType: 'REGIONAL',
          IpAddressType: 'dualstack',
          SecurityPolicy: 'TLS_1_2',
        },
      ],
    })
  })

  it('leads to the API by IPv4 and IPv6', () => {
    const domainName = withDomain.only('AWS::ApiGatewayV2::DomainName').logicalId
    const records = withDomain.all('AWS::Route53::RecordSet')

    expect(records).toStrictEqual(
      ['A', 'AAAA'].map((Type) => ({
        Name: 'api.pay.example.',
        Type,
        HostedZoneId: DOMAIN.zone.id,
        AliasTarget: {
          DNSName: `<${domainName}>.RegionalDomainName`,
          HostedZoneId: `<${domainName}>.RegionalHostedZoneId`,
        },
      })),
    )
    expect(withDomain.only('AWS::ApiGatewayV2::ApiMapping')).toMatchObject({
      properties: {
        ApiId: `<${withDomain.only('AWS::ApiGatewayV2::Api').logicalId}>`,
        DomainName: `<${domainName}>`,
        Stage: '$default',
      },
      dependsOn: [withDomain.only('AWS::ApiGatewayV2::Stage').logicalId],
    })
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

  const authority = join(import.meta.dirname, '../../support/origin-authority.pem')
  const certified = (front: 'none' | 'cloudfront') =>
    synthesised(
      stageWith({
        domain: DOMAIN,
        front,
        frontSettings: {
          ...deployedStage('dev').frontSettings,
          originCertificate: { id: '11111111-2222-4333-8444-555555555555', authority },
        },
      }),
    )
  const trusted = (template: typeof plain) =>
    template.only('AWS::ApiGatewayV2::DomainName').properties['MutualTlsAuthentication']

  it('behind a front with a certificate refuses all others before a function runs: they get no connection', () => {
    expect(trusted(certified('cloudfront'))).toStrictEqual({
      TruststoreUri: expect.stringMatching(/^s3:\/\/.+\/[0-9a-f]{64}\.pem$/),
    })
    expect(trusted(synthesised('prod'))).toBeDefined()
  })

  it('takes connections from anyone without a front, or before there is a certificate', () => {
    expect(trusted(certified('none'))).toBeUndefined()
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
