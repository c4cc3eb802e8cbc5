import {
  AttachRolePolicyCommand,
  CreateOpenIDConnectProviderCommand,
  CreateRoleCommand,
  GetRoleCommand,
  IAMClient,
  UpdateAssumeRolePolicyCommand,
} from '@aws-sdk/client-iam'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  checkPipelineRole,
  makePipelineRole,
  trustPolicy,
} from '../../../infra/operate/check/pipeline-role.ts'
import { awsRefusal, mockOf } from './around-tools.ts'

const iam = mockOf(IAMClient)
const client = new IAMClient({})
const [RoleName, account, repository] = [
  'gateway-prod-pipeline',
  '000000000000',
  'shop@11/gateway@22',
]
const POLICY = JSON.stringify(trustPolicy('prod', account, repository))

function make() {
  return makePipelineRole(client, { stage: 'prod', account, repository })
}

beforeEach(() => void iam.onAnyCommand().resolves({}))

describe('the role of the pipeline', () => {
  it('is made with the repository’s ids in its trust policy, and gets the deploy policy', async () => {
    expect(await make()).toMatchObject({ state: 'ok' })

    const [created] = iam.commandCalls(CreateRoleCommand).map(({ args: [{ input }] }) => input)
    expect(created).toStrictEqual({ RoleName, AssumeRolePolicyDocument: POLICY })
    expect(POLICY).toContain('"repo:shop@11/gateway@22:environment:prod"')
    expect(
      iam.commandCalls(AttachRolePolicyCommand).map(({ args: [{ input }] }) => input),
    ).toStrictEqual([
      { RoleName, PolicyArn: 'arn:aws:iam::aws:policy/ReadOnlyAccess' },
      { RoleName, PolicyArn: 'arn:aws:iam::000000000000:policy/gateway-prod-deploy' },
    ])
    expect(iam.commandCalls(UpdateAssumeRolePolicyCommand)).toHaveLength(0)
  })

  it('gets its trust policy anew if it exists, and its deploy policy once that exists', async () => {
    const exists = awsRefusal('EntityAlreadyExistsException')
    iam.on(CreateOpenIDConnectProviderCommand).rejects(exists)
    iam.on(CreateRoleCommand).rejects(exists)
    iam
      .on(AttachRolePolicyCommand)
      .resolvesOnce({})
      .rejectsOnce(awsRefusal('NoSuchEntityException'))

    expect(await make()).toMatchObject({
      state: 'wrong',
      detail: 'the stage has no deploy policy yet',
    })

    const [changed] = iam
      .commandCalls(UpdateAssumeRolePolicyCommand)
      .map(({ args: [{ input }] }) => input)
    expect(changed).toStrictEqual({ RoleName, PolicyDocument: POLICY })
  })

  const SUBJECT = 'repo:shop@11/gateway@22:environment:prod'
  it.each<[state: string, what: string, part: string | RegExp, other: string]>([
    ['ok', 'one environment of a repository by its ids', POLICY, POLICY],
    ['wrong', 'a name without ids', /@\d+/g, ''],
    ['wrong', 'every repository', SUBJECT, 'repo:*'],
    ['wrong', 'a branch', 'environment:prod', 'ref:refs/heads/main'],
    ['wrong', 'another stage', 'environment:prod', 'environment:dev'],
    ['wrong', 'another audience', 'sts.amazonaws.com', 'x'],
    ['wrong', 'a pattern', 'StringEquals', 'StringLike'],
    ['wrong', 'everyone', POLICY, '{"Statement":[{"Effect":"Allow"}]}'],
  ])('is %s for the doctor if it trusts %s', async (state, _, part, other) => {
    const Role = {
      Path: '/',
      RoleName,
      RoleId: '',
      Arn: '',
      CreateDate: new Date(0),
      AssumeRolePolicyDocument: encodeURIComponent(POLICY.replace(part, other)),
    }
    iam.on(GetRoleCommand, { RoleName }).resolves({ Role })

    expect(await checkPipelineRole(client, 'prod')).toMatchObject({ state })
  })
})
