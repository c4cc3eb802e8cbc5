import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DAY_MS } from '../../../shared/time.ts'
import { originAuthorityPath } from '../../stack/edge/api-domain.ts'
import { PLACEHOLDER_CERTIFICATE } from '../../stack/stage.ts'
import type { OriginCertificate } from '../../stack/stage-file.ts'
import { errorName } from './run-check.ts'

/** Of the authority that the project comes with. */
export const PLACEHOLDER_SUBJECT = 'CN=placeholder'

/** Time enough to exchange it: once it has expired, the API cannot be reached. */
const RENEWED_BEFORE_DAYS = 60

const ONE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** What is wrong with the certificate by which the origin knows the front, as far as this project knows it. */
export const originCertificateProblems = ({ id, authority }: OriginCertificate, nowMs: number): readonly string[] => [
  ...(id === PLACEHOLDER_CERTIFICATE ? ['the id of the front’s certificate is still the placeholder'] : []),
  ...authorityProblems(authority, nowMs).map((problem) => `${authority} ${problem}`),
]

const authorityProblems = (authority: string, nowMs: number): readonly string[] => {
  try {
    const text = readFileSync(originAuthorityPath(authority), 'utf8')
    const certificates = (text.match(ONE) ?? []).map((pem) => new X509Certificate(pem))
    return [
      ...(text.includes('PRIVATE KEY') ? ['holds a private key, which belongs nowhere near the code'] : []),
      ...(certificates.length === 0 ? ['has no certificate'] : []),
      ...certificates.flatMap((certificate) => certificateProblems(certificate, nowMs)),
    ]
  } catch (error) {
    return [`cannot be read: ${errorName(error)}`]
  }
}

const certificateProblems = ({ ca, subject, validTo }: X509Certificate, nowMs: number): readonly string[] => {
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS)
  return [
    ...(subject === PLACEHOLDER_SUBJECT ? ['is still the placeholder'] : []),
    ...(ca ? [] : ['holds a certificate that is no authority']),
    ...(days < RENEWED_BEFORE_DAYS ? [`holds a certificate that ends in ${days} days`] : []),
  ]
}
