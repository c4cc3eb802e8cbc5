/**
 * Goal: the person on call may do what the runbook says. Method: every AWS command of the documents
 * is read; those of the runbook are in the policy of people on call, the others in that policy, in
 * the deployer's, or in what only an administrator of the account does.
 */
import { describe, expect, it } from 'vitest'
import { projectText } from '../../support/source-file.ts'
import { synthesised } from '../../support/stack-template.ts'

/** The IAM actions of a command, where the command's name does not say them. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'logs tail': ['logs:FilterLogEvents'],
  'logs start-query': ['logs:StartQuery', 'logs:DescribeLogGroups'],
  'deploy stop-deployment': ['codedeploy:StopDeployment'],
  'sqs start-message-move-task': [
    'sqs:StartMessageMoveTask',
    'sqs:ReceiveMessage',
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    'sqs:SendMessage',
  ],
}

/** Once, before there is a stage or after there was one, by an administrator of the account. */
const BY_ADMINISTRATORS = new Set([
  'acm import-certificate',
  'backup start-restore-job',
  'cloudformation delete-stack',
  'cloudformation update-stack',
  'cloudformation update-termination-protection',
  'dynamodb delete-table',
  'dynamodb update-table',
  'iam attach-role-policy',
  'iam delete-policy',
  'iam delete-policy-version',
  'iam detach-role-policy',
  'kms schedule-key-deletion',
  's3 cp',
  'secretsmanager delete-secret',
  'secretsmanager stop-replication-to-replica',
  'sqs delete-queue',
])

/** AWS's own ReadOnlyAccess, which deployers have too. */
const READ_ONLY = /^(acm|cloudformation|dynamodb|iam|lambda|logs|sqs|wafv2):(Describe|Get|List)/

/** They need no permission, or are in the policy of a duty. */
const BY_ANYONE = new Set([
  'cloudformation wait',
  'lambda invoke',
  'sso login',
  'sts get-caller-identity',
])

function commandsOf(document: string): readonly string[] {
  const found = projectText(document).matchAll(/\baws ([a-z0-9]+) ([a-z0-9-]+)/g)
  const commands = [...found].map(([, service, command]) => `${service} ${command}`)
  return [...new Set(commands)].filter((command) => !BY_ANYONE.has(command))
}

function actionsOf(command: string): readonly string[] {
  const [service = '', name = ''] = command.split(' ')
  const action = name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return ACTIONS[command] ?? [`${service}:${action}`]
}

function allowedBy(name: string): ReadonlySet<string> {
  const policies = synthesised('prod').all('AWS::IAM::ManagedPolicy')
  const policy = policies.find(({ ManagedPolicyName }) => ManagedPolicyName === name)
  return new Set(JSON.stringify(policy).match(/[a-z0-9]+:[A-Z][A-Za-z]+/g))
}

describe('the AWS commands of the documents', () => {
  const onCall = allowedBy('gateway-prod-oncall')
  const deploying = allowedBy('gateway-prod-deploy')

  it.each(commandsOf('docs/runbook.md'))('runbook.md: aws %s', (command) => {
    expect(actionsOf(command).filter((action) => !onCall.has(action))).toStrictEqual([])
  })

  it.each(commandsOf('docs/operations.md'))('operations.md: aws %s', (command) => {
    const missing = actionsOf(command).filter(
      (action) => !onCall.has(action) && !deploying.has(action) && !READ_ONLY.test(action),
    )
    expect(BY_ADMINISTRATORS.has(command) ? [] : missing).toStrictEqual([])
  })

  it('of administrators are in operations.md', () => {
    const told = commandsOf('docs/operations.md')
    expect([...BY_ADMINISTRATORS].filter((command) => !told.includes(command))).toStrictEqual([])
  })
})
