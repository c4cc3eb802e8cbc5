import type { Stack } from '@aws-sdk/client-cloudformation'
import { type Finding, ok, unclear, wrong } from './finding.ts'

/** Whether a deployment of the stack went well, is under way, or left something for a person to do. */
export const stackFinding = (
  what: string,
  { StackName, StackStatus, StackId }: Pick<Stack, 'StackName' | 'StackStatus' | 'StackId'>,
): Finding => {
  const name = StackName ?? '?'
  const status: string = StackStatus ?? '?'
  const named = `--stack-name ${name}${regionOf(StackId)}`
  const detail = `${name} is ${status}`
  if (status.endsWith('_IN_PROGRESS')) return unclear(what, detail, 'wait until the deployment is over')
  // Before the general rule: what is left of it serves nobody.
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') {
    return wrong(what, `${detail}: its creation failed`, removalOf(named))
  }
  if (status.endsWith('ROLLBACK_COMPLETE')) return ok(what, `${detail}: the last deployment was taken back`)
  if (status.endsWith('_COMPLETE')) return ok(what, detail)
  return wrong(what, detail, remedyFor(status, named) ?? 'look at the events of the stack in the console')
}

/** The front's stack is in another region than the others: commands about a stack name its own. */
const regionOf = (stackId: string | undefined): string => {
  const region = stackId?.split(':')[3]
  return region === undefined || region === '' ? '' : ` --region ${region}`
}

/** A stack that is protected from deletion is so even when it never came to be. */
const removalOf = (named: string): string =>
  `aws cloudformation update-termination-protection --no-enable-termination-protection ${named} && aws cloudformation delete-stack ${named}`

const remedyFor = (status: string, named: string): string | undefined => {
  switch (status) {
    case 'UPDATE_ROLLBACK_FAILED':
      return `put right what the events name, then aws cloudformation continue-update-rollback ${named}`
    case 'UPDATE_FAILED':
    case 'CREATE_FAILED':
      return `npm run deploy again with --no-rollback, or aws cloudformation rollback-stack ${named}`
    default:
      return undefined
  }
}
