import { resolve } from 'node:path'
import { ArnFormat, type Stack } from 'aws-cdk-lib'
import { PROJECT_ROOT } from '../functions/bundling.ts'
import type { OriginCertificate } from '../stage.ts'

/** The authority's own certificate, which no secret is in: it is part of the code, and goes where API Gateway reads it. */
export const originAuthorityPath = (authority: string): string => resolve(PROJECT_ROOT, authority)

/** Of the certificate that the front shows, in the front's region and the stack's account. */
export const originCertificateArn = (stack: Stack, { id }: OriginCertificate): string =>
  stack.formatArn({
    service: 'acm',
    resource: 'certificate',
    resourceName: id,
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  })
