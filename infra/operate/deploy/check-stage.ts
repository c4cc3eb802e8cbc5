import { type DeployedStage, PLACEHOLDER_DOMAIN, PLACEHOLDER_RETURN_URL } from '../../stack/stage.ts'
import { originCertificateProblems } from '../check/check-origin-certificate.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'

/** What the stage's settings lack. A stage whose data is protected takes real money, and must not go without. */
export const checkStage = (stage: DeployedStage, nowMs = Date.now()): readonly Finding[] => {
  const { settings, deletionProtection, alarmRecipients } = stage
  const what = 'stage settings'
  const lacks = [
    ...(settings.defaultReturnUrl === PLACEHOLDER_RETURN_URL
      ? [
          wrong(
            what,
            `the return URL is still ${PLACEHOLDER_RETURN_URL}`,
            'set payer.returnUrl in infra/stack/stage.ts',
          ),
        ]
      : []),
    ...(alarmRecipients.length === 0
      ? [wrong(what, 'nobody is told of an alarm', 'set alarmRecipients in infra/stack/stage.ts')]
      : []),
    ...frontLacks(stage, nowMs).map(([detail, todo]) => wrong(what, detail, todo)),
  ]
  if (!deletionProtection) return [ok(what, `${settings.name} is disposable: its data goes with its stack`)]
  return lacks.length > 0 ? lacks : [ok(what, `${settings.name} keeps its data; ${alarmRecipients.length} recipients`)]
}

const CERTIFICATE_TODO = 'docs/operations.md, "The front\'s certificate"'

const frontLacks = (
  { domain, front, frontSettings: { originCertificate } }: DeployedStage,
  nowMs: number,
): readonly (readonly [detail: string, todo: string])[] => {
  if (front !== 'cloudfront') return []
  const problems =
    originCertificate === undefined
      ? ['the origin cannot tell the front from others before a function runs']
      : originCertificateProblems(originCertificate, nowMs)
  return [
    ...(domain?.name === PLACEHOLDER_DOMAIN.name
      ? [[`the domain is still ${PLACEHOLDER_DOMAIN.name}`, 'set domain in infra/stack/stage.ts'] as const]
      : []),
    ...problems.map((problem) => [problem, CERTIFICATE_TODO] as const),
  ]
}
