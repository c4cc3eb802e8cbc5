import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DAY_MS } from '../../../shared/time.ts'
import { originAuthorityPath } from '../../stack/edge/api-domain.ts'
import {
  type DeployedStage,
  PLACEHOLDER_ACCOUNT,
  PLACEHOLDER_CERTIFICATE,
  PLACEHOLDER_DOMAIN,
  PLACEHOLDER_RETURN_URL,
} from '../../stack/stage.ts'
import type { OriginCertificate } from '../../stack/stage-file.ts'
import { errorName, type Finding, findingsOrOk, ok, wrong } from './finding.ts'

const FRONT_REMEDY =
  'npm run deploy -- --stage STAGE --init makes the first; docs/operations.md, "The front\'s ' +
  'certificate"'

type Lack = readonly [isLacking: boolean, detail: string, todo: string]

/** A stage with protected data takes real money, so it must lack no setting. */
export function checkSettings(stage: DeployedStage): readonly Finding[] {
  const { settings, deletionProtection, alarmRecipients, domain, front } = stage
  const { originCertificate } = stage.frontSettings
  const what = 'stage settings'
  if (!deletionProtection)
    return [ok(what, `${settings.name} is disposable: its data is deleted with its stack`)]
  const hasFront = front === 'cloudfront'
  const certificate = originCertificate
    ? originCertificateProblems(originCertificate, Date.now())
    : ['no origin certificate: other callers reach the functions, which refuse them']
  const lacks: readonly Lack[] = [
    [
      settings.defaultReturnUrl === PLACEHOLDER_RETURN_URL,
      `the return URL is still ${PLACEHOLDER_RETURN_URL}`,
      'set payer.returnUrl in infra/stages/STAGE.json',
    ],
    [
      stage.location === undefined || stage.location.account === PLACEHOLDER_ACCOUNT,
      'the account is not named',
      'set location in infra/stages/STAGE.json',
    ],
    [
      alarmRecipients.length === 0,
      'no address receives alarms',
      'set alarmRecipients in infra/stages/STAGE.json',
    ],
    [
      hasFront && domain?.name === PLACEHOLDER_DOMAIN.name,
      `the domain is still ${PLACEHOLDER_DOMAIN.name}`,
      'set domain in infra/stages/STAGE.json',
    ],
    ...certificate.map((problem): Lack => [hasFront, problem, FRONT_REMEDY]),
  ]
  const findings = lacks.flatMap(([isLacking, detail, todo]) =>
    isLacking ? [wrong(what, detail, todo)] : [],
  )
  const detail = `${settings.name} keeps its data; ${alarmRecipients.length} recipients`
  return findingsOrOk(findings, what, detail)
}

export function originCertificateProblems({ id, authority }: OriginCertificate, nowMs: number) {
  return [
    ...(id === PLACEHOLDER_CERTIFICATE
      ? ['the id of the front’s certificate is still the placeholder']
      : []),
    ...authorityProblems(authority, nowMs).map((problem) => `${authority} ${problem}`),
  ]
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

function authorityProblems(authority: string, nowMs: number) {
  try {
    const text = readFileSync(originAuthorityPath(authority), 'utf8')
    const certificates = (text.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem))
    return [
      ...(text.includes('PRIVATE KEY')
        ? ['holds a private key; remove it, and make a new key']
        : []),
      ...(certificates.length === 0 ? ['has no certificate'] : []),
      ...certificates.flatMap((certificate) => certificateProblems(certificate, nowMs)),
    ]
  } catch (error) {
    return [`cannot be read: ${errorName(error)}`]
  }
}

/** The authority that the project contains. */
export const PLACEHOLDER_SUBJECT = 'CN=placeholder'

/** After the certificate's expiry no caller reaches the API. */
const RENEWED_BEFORE_DAYS = 60

function certificateProblems({ ca, subject, validTo }: X509Certificate, nowMs: number) {
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS)
  return [
    ...(subject === PLACEHOLDER_SUBJECT ? ['is still the placeholder'] : []),
    ...(ca ? [] : ['holds a certificate that is not of an authority']),
    ...(days < RENEWED_BEFORE_DAYS ? [`holds a certificate that ends in ${days} days`] : []),
  ]
}
