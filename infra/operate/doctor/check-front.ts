import { isOriginSecret } from '../../../shared/runtime/origin-guard.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { frontStackNameOf } from '../../stack/stage-template.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { originCertificateProblems } from '../check/check-origin-certificate.ts'
import { describedStack } from '../check/deployed-stack.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { look } from '../check/look.ts'
import { secretText } from '../check/secret-text.ts'
import { stackFinding } from '../check/stack-status.ts'

/** The front's stack, and the secret by which the functions know what came through it. Nothing where there is no front. */
export const checkFront = async (
  { globalCloudFormation, secretsManager }: Pick<AwsClients, 'globalCloudFormation' | 'secretsManager'>,
  stage: DeployedStage,
  nowMs: number,
): Promise<readonly Finding[]> => {
  if (stage.front !== 'cloudfront') return []
  const found = await Promise.all([
    look('front stack', async () => {
      const name = frontStackNameOf(stage)
      const stack = await describedStack(globalCloudFormation, name)
      return stack
        ? stackFinding('front stack', stack)
        : wrong('front stack', `${name} is not deployed`, 'npm run deploy')
    }),
    look('origin secret', async () => {
      const name = originSecretName(stage.settings.name)
      return originSecretFinding(name, await secretText(secretsManager, name))
    }),
    look('origin certificate', async () => originCertificateFinding(stage, nowMs)),
  ])
  return found.flat()
}

const originCertificateFinding = ({ frontSettings: { originCertificate } }: DeployedStage, nowMs: number): Finding => {
  const what = 'origin certificate'
  if (originCertificate === undefined) return ok(what, 'none: functions refuse what did not come through the front')
  const problems = originCertificateProblems(originCertificate, nowMs)
  return problems.length === 0
    ? ok(what, `${originCertificate.authority} is valid`)
    : wrong(what, problems.join('; '), 'docs/operations.md, "The front\'s certificate"')
}

const originSecretFinding = (name: string, text: string | undefined): Finding => {
  const todo = `put {"current": "..."} of 32 to 1,024 printable characters: docs/operations.md, "4. Rotating secrets"`
  if (text === undefined) return wrong('origin secret', `${name} is missing: every request is refused`, todo)
  return isOriginSecret(text)
    ? ok('origin secret', `${name} is well-formed`)
    : wrong('origin secret', `${name} is malformed: every request is refused`, todo)
}
