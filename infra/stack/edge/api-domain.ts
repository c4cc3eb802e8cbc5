import { resolve } from 'node:path'
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2'
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AaaaRecord,
  ARecord,
  HostedZone,
  type IHostedZone,
  RecordTarget,
} from 'aws-cdk-lib/aws-route53'
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import { Construct } from 'constructs'
import { PROJECT_ROOT } from '../project-root.ts'
import type { DeployedStage } from '../stage.ts'
import type { StageDomain } from '../stage-file.ts'
import type { GatewayHttpApi } from '../triggers/gateway-http-api.ts'

/** The zone by its attributes, because a lookup of the zone would need the account at synth. */
export function hostedZone(scope: Construct, { zone }: StageDomain) {
  return HostedZone.fromHostedZoneAttributes(scope, 'Zone', {
    hostedZoneId: zone.id,
    zoneName: zone.name,
  })
}

/** Renews itself, because its proof stays in the zone. */
export function certificateOf(scope: Construct, domainName: string, zone: IHostedZone) {
  return new Certificate(scope, 'Certificate', {
    domainName,
    validation: CertificateValidation.fromDns(zone),
  })
}

/** With a front, API Gateway is its origin, and the front has the stage's name. */
export function apiDomainName({ name }: StageDomain, front: DeployedStage['front']) {
  return front === 'cloudfront' ? `origin.${name}` : name
}

/** No secret: the authority's certificate is part of the code, and is uploaded for API Gateway. */
export function originAuthorityPath(authority: string) {
  return resolve(PROJECT_ROOT, authority)
}

type Props = {
  readonly stage: DeployedStage
  readonly domain: StageDomain
  readonly httpApi: Pick<GatewayHttpApi, 'api' | 'stage'>
}

/** The API under our own name, over TLS 1.2 or later. */
export class ApiDomain extends Construct {
  readonly name: string
  readonly certificateArn: string

  constructor(scope: Construct, id: string, { stage, domain, httpApi }: Props) {
    super(scope, id)
    this.name = apiDomainName(domain, stage.front)
    const zone = hostedZone(this, domain)

    const certificate = certificateOf(this, this.name, zone)
    this.certificateArn = certificate.certificateArn
    const domainName = new apigateway.DomainName(this, 'Name', {
      domainName: this.name,
      certificate,
      endpointType: apigateway.EndpointType.REGIONAL,
      securityPolicy: apigateway.SecurityPolicy.TLS_1_2,
      ipAddressType: apigateway.IpAddressType.DUAL_STACK,
      ...this.mutualTls(stage),
    })
    // The API closes its generated address: only when this one is there.
    httpApi.api.node.addDependency(domainName)
    new apigateway.ApiMapping(this, 'Mapping', {
      api: httpApi.api,
      stage: httpApi.stage,
      domainName,
    })

    const { regionalDomainName, regionalHostedZoneId } = domainName
    const target = RecordTarget.fromAlias(
      new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId),
    )
    new ARecord(this, 'Ipv4', { zone, recordName: this.name, target })
    new AaaaRecord(this, 'Ipv6', { zone, recordName: this.name, target })
  }

  /**
   * With a front's certificate, other callers get no TLS connection, so no throttle counts them and
   * no function runs.
   */
  private mutualTls({
    front,
    frontSettings,
  }: DeployedStage): Pick<apigateway.DomainNameProps, 'mtls'> {
    const { originCertificate } = frontSettings
    if (front !== 'cloudfront' || originCertificate === undefined) return {}
    const authority = new Asset(this, 'OriginAuthority', {
      path: originAuthorityPath(originCertificate.authority),
    })
    return { mtls: { bucket: authority.bucket, key: authority.s3ObjectKey } }
  }
}
