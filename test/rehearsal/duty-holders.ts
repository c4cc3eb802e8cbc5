import { mayInvoke, ROLES, type Role } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { ACCOUNT, ENDPOINT, REGION } from './emulator.ts'
import { expect, STACK } from './rehearsal.ts'

/** IAM by plain requests: no package of ours speaks to it, and MiniStack looks at no signature of the account itself. */
const askIam = async (Action: string, parameters: Readonly<Record<string, string>>): Promise<string> => {
  const answer = await fetch(ENDPOINT, {
    method: 'POST',
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=test/20261121/${REGION}/iam/aws4_request, SignedHeaders=host, Signature=none`,
    },
    body: new URLSearchParams({ Action, Version: '2010-05-08', ...parameters }),
  })
  const text = await answer.text()
  expect(answer.ok, `${Action}: ${text}`)
  return text
}

/** A person for each duty, who holds its policy and nothing else: whose keys the operators' command is given. */
export const hireDutyHolders = async (): Promise<(action: string) => NodeJS.ProcessEnv> => {
  const keys = new Map<Role, NodeJS.ProcessEnv>()
  for (const role of ROLES) {
    const UserName = `rehearsal-${role}`
    await askIam('CreateUser', { UserName })
    await askIam('AttachUserPolicy', { UserName, PolicyArn: policyOf(role) })
    const text = await askIam('CreateAccessKey', { UserName })
    const read = (name: string) => new RegExp(`<${name}>(.+)</${name}>`).exec(text)?.[1] ?? ''
    keys.set(role, { AWS_ACCESS_KEY_ID: read('AccessKeyId'), AWS_SECRET_ACCESS_KEY: read('SecretAccessKey') })
  }
  return (action) => {
    const spec = MANIFEST.find(({ name }) => name === action)
    const role = ROLES.find((one) => spec && mayInvoke(one, spec))
    return (role && keys.get(role)) ?? {}
  }
}

const policyOf = (role: Role) => `arn:aws:iam::${ACCOUNT}:policy/${STACK}-${role}`

/** IAM knows no regions: a stack elsewhere would meet the names of the lost one's, and nobody may hold a policy that goes. */
export const removeDutyPolicies = async (): Promise<void> => {
  for (const role of ROLES) {
    await askIam('DetachUserPolicy', { UserName: `rehearsal-${role}`, PolicyArn: policyOf(role) })
    await askIam('DeletePolicy', { PolicyArn: policyOf(role) })
  }
}
