import {
  AttachRolePolicyCommand,
  CreateOpenIDConnectProviderCommand,
  CreateRoleCommand,
  GetRoleCommand,
  type IAMClient,
  UpdateAssumeRolePolicyCommand,
} from '@aws-sdk/client-iam'
import * as v from 'valibot'
import { type Finding, ok, unlessAbsent, wrong } from './finding.ts'

const ISSUER = 'token.actions.githubusercontent.com'
const AUDIENCE = 'sts.amazonaws.com'

/** With ids a later repository of the same name is not trusted. */
export const REPOSITORY = /^[\w.-]+@\d+\/[\w.-]+@\d+$/

const PIPELINE_COMMAND =
  'npm run deploy -- --stage STAGE --init --repository OWNER@OWNER_ID/REPOSITORY@REPOSITORY_ID'

export function pipelineRoleOf(stage: string) {
  return `gateway-${stage}-pipeline`
}

const PolicyDocument = v.object({
  Statement: v.array(
    v.object({ Condition: v.optional(v.record(v.string(), v.record(v.string(), v.unknown()))) }),
  ),
})

/**
 * Whether the pipeline's role trusts only one environment of one repository, by ids. A stage that
 * nothing deploys from GitHub has no such role.
 */
export async function checkPipelineRole(iam: IAMClient, stage: string) {
  const RoleName = pipelineRoleOf(stage)
  const what = `role ${RoleName}`
  const ask = iam.send(new GetRoleCommand({ RoleName }))
  const found = await unlessAbsent(['NoSuchEntityException'], ask)
  if (found === undefined) return ok(what, 'is not there: no pipeline deploys this stage')
  const document: unknown = JSON.parse(
    decodeURIComponent(found.Role?.AssumeRolePolicyDocument ?? '{}'),
  )
  const { Statement: statements } = v.parse(PolicyDocument, document)
  const others = statements.filter((statement) => !isNarrow(statement.Condition, stage))
  return others.length === 0
    ? ok(what, `trusts one repository by its ids, and only the environment ${stage}`)
    : wrong(
        what,
        'trusts a name without ids, another environment or another audience',
        PIPELINE_COMMAND,
      )
}

type Condition = Readonly<Record<string, Readonly<Record<string, unknown>>>>

function isNarrow({ StringEquals: equals = {} }: Condition = {}, stage: string) {
  const [repo, repository, ...environment] = String(equals[`${ISSUER}:sub`]).split(':')
  return (
    equals[`${ISSUER}:aud`] === AUDIENCE &&
    repo === 'repo' &&
    REPOSITORY.test(repository ?? '') &&
    environment.join(':') === `environment:${stage}`
  )
}

/** The subject is what GitHub sends for a job of the environment. */
export function trustPolicy(stage: string, account: string, repository: string) {
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Federated: `arn:aws:iam::${account}:oidc-provider/${ISSUER}` },
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: {
            [`${ISSUER}:aud`]: AUDIENCE,
            [`${ISSUER}:sub`]: `repo:${repository}:environment:${stage}`,
          },
        },
      },
    ],
  }
}

type Pipeline = {
  readonly stage: string
  readonly account: string
  /** `OWNER@OWNER_ID/REPOSITORY@REPOSITORY_ID` */
  readonly repository: string
}

/** Makes the role, or writes its trust policy anew. Safe to repeat. */
export async function makePipelineRole(
  iam: IAMClient,
  { stage, account, repository }: Pipeline,
): Promise<Finding> {
  const RoleName = pipelineRoleOf(stage)
  const what = `role ${RoleName}`
  const provider = new CreateOpenIDConnectProviderCommand({
    Url: `https://${ISSUER}`,
    ClientIDList: [AUDIENCE],
  })
  await unlessAbsent(['EntityAlreadyExistsException'], iam.send(provider))
  const policy = JSON.stringify(trustPolicy(stage, account, repository))
  const create = new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: policy })
  const made = await unlessAbsent(['EntityAlreadyExistsException'], iam.send(create))
  if (!made) await iam.send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument: policy }))
  // The doctor needs the policy of AWS that may start drift detection.
  const reading = { RoleName, PolicyArn: 'arn:aws:iam::aws:policy/ReadOnlyAccess' }
  await iam.send(new AttachRolePolicyCommand(reading))
  const PolicyArn = `arn:aws:iam::${account}:policy/gateway-${stage}-deploy`
  const attach = iam.send(new AttachRolePolicyCommand({ RoleName, PolicyArn }))
  return (await unlessAbsent(['NoSuchEntityException'], attach)) === undefined
    ? wrong(what, 'the stage has no deploy policy yet', 'deploy, then run this command again')
    : ok(what, `trusts ${repository}, environment ${stage}`)
}
