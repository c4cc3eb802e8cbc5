import * as aws from '@aws-sdk/client-iam'
import { mayInvoke, ROLES, type Role } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { awsClients } from '../../infra/operate/check/aws-clients.ts'
import { ACCOUNT, REGION } from './emulator.ts'
import { STACK } from './rehearsal.ts'

export async function hireDutyHolders(): Promise<(action: string) => NodeJS.ProcessEnv> {
  const { iam } = awsClients(REGION)
  const keys = new Map<Role, NodeJS.ProcessEnv>()
  for (const role of ROLES) {
    const { UserName } = policyOf(role)
    await iam.send(new aws.CreateUserCommand({ UserName }))
    await iam.send(new aws.AttachUserPolicyCommand(policyOf(role)))
    const { AccessKey: key } = await iam.send(new aws.CreateAccessKeyCommand({ UserName }))
    keys.set(role, {
      AWS_ACCESS_KEY_ID: key?.AccessKeyId,
      AWS_SECRET_ACCESS_KEY: key?.SecretAccessKey,
    })
  }
  return (action) => {
    const spec = MANIFEST.find(({ name }) => name === action)
    const role = ROLES.find((duty) => spec && mayInvoke(duty, spec))
    return (role && keys.get(role)) ?? {}
  }
}

function policyOf(role: Role) {
  return {
    UserName: `rehearsal-${role}`,
    PolicyArn: `arn:aws:iam::${ACCOUNT}:policy/${STACK}-${role}`,
  }
}

/**
 * IAM has no regions: a stack in another region needs these names. A policy that a user holds
 * cannot be deleted.
 */
export async function removeDutyPolicies() {
  const { iam } = awsClients(REGION)
  for (const role of ROLES) {
    await iam.send(new aws.DetachUserPolicyCommand(policyOf(role)))
    await iam.send(new aws.DeletePolicyCommand({ PolicyArn: policyOf(role).PolicyArn }))
  }
}
