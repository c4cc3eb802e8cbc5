import { type DeployedStage, PLACEHOLDER_DOMAIN, PLACEHOLDER_RETURN_URL } from '../../stack/stage.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { originCertificateProblems } from '../check/origin-certificate-problems.ts'

/** What the stage's settings lack. A stage whose data is protected takes real money, and must not go without. */
export const checkSettings = (stage: DeployedStage, nowMs = Date.now()): readonly Finding[] => {
  const { settings, deletionProtection, alarmRecipients } = stage
  const what = 'stage settings'
  if (!deletionProtection) return [ok(what, `${settings.name} is disposable: its data goes with its stack`)]
  const lacks = [
    ...(settings.defaultReturnUrl === PLACEHOLDER_RETURN_URL
      ? [
          [
            `the return URL is still ${PLACEHOLDER_RETURN_URL}`,
            'set payer.returnUrl in infra/stages/STAGE.json',
          ] as const,
        ]
      : []),
    ...(alarmRecipients.length === 0
      ? [['nobody is told of an alarm', 'set alarmRecipients in infra/stages/STAGE.json'] as const]
      : []),
    ...frontLacks(stage, nowMs),
  ]
  return lacks.length > 0
    ? lacks.map(([detail, todo]) => wrong(what, detail, todo))
    : [ok(what, `${settings.name} keeps its data; ${alarmRecipients.length} recipients`)]
}

const FRONT_REMEDY =
  'npm run deploy -- --stage STAGE --init makes the first; docs/operations.md, "The front\'s certificate"'

const frontLacks = (
  { domain, front, frontSettings: { originCertificate } }: DeployedStage,
  nowMs: number,
): readonly (readonly [detail: string, todo: string])[] => {
  if (front !== 'cloudfront') return []
  const problems = originCertificate
    ? originCertificateProblems(originCertificate, nowMs)
    : ['the origin cannot tell the front from others before a function runs']
  return [
    ...(domain?.name === PLACEHOLDER_DOMAIN.name
      ? [[`the domain is still ${PLACEHOLDER_DOMAIN.name}`, 'set domain in infra/stages/STAGE.json'] as const]
      : []),
    ...problems.map((problem) => [problem, FRONT_REMEDY] as const),
  ]
}
