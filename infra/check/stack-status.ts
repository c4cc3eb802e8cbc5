import type { Stack } from '@aws-sdk/client-cloudformation'
import { type Finding, ok, unclear, wrong } from './finding.ts'

/** Whether a deployment of the stack went well, is under way, or left something for a person to do. */
export const stackFinding = (
  what: string,
  { StackName: name = '?', StackStatus }: Pick<Stack, 'StackName' | 'StackStatus'>,
): Finding => {
  const status: string = StackStatus ?? '?'
  const detail = `${name} is ${status}`
  if (status.endsWith('_IN_PROGRESS')) return unclear(what, detail, 'wait until the deployment is over')
  // Before the general rule: what is left of it serves nobody.
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') {
    return wrong(what, `${detail}: its creation failed`, removalOf(name))
  }
  if (status.endsWith('ROLLBACK_COMPLETE')) return ok(what, `${detail}: the last deployment was taken back`)
  if (status.endsWith('_COMPLETE')) return ok(what, detail)
  return wrong(what, detail, REMEDIES[status] ?? 'look at the events of the stack in the console')
}

/** A stack that is protected from deletion is so even when it never came to be. */
export const removalOf = (name: string): string =>
  `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${name} && aws cloudformation delete-stack --stack-name ${name}`

const AFTER_NO_ROLLBACK = 'npm run deploy again with --no-rollback, or npx cdk rollback'

const REMEDIES: Readonly<Record<string, string>> = {
  UPDATE_ROLLBACK_FAILED: 'put right what the events name, then aws cloudformation continue-update-rollback',
  UPDATE_FAILED: AFTER_NO_ROLLBACK,
  CREATE_FAILED: AFTER_NO_ROLLBACK,
}
