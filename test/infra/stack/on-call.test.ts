/**
 * Goal: the person on call may do what the runbook says. Method: every AWS command of the documents
 * is read; those of the runbook are in the policy of people on call, the others in that policy, in
 * the deployer's, or in what only an administrator of the account does. Each operator action of the
 * runbook belongs to a duty of the person on call, or its paragraph names the other duty.
 */
import { describe, expect, it } from 'vitest'
import { mayInvoke } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { QUEUE_NAMES } from '../../../shared/queues.ts'
import { projectText } from '../../support/source-file.ts'
import { synthesised } from '../../support/stack-template.ts'

/** The IAM actions of a command, where the command's name does not say them. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'logs tail': ['logs:FilterLogEvents'],
  'logs start-query': ['logs:StartQuery', 'logs:DescribeLogGroups'],
  'sqs start-message-move-task': [
    'sqs:StartMessageMoveTask',
    'sqs:ReceiveMessage',
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    'sqs:SendMessage',
  ],
}

/** Before there is a stage, or after its end, by an administrator of the account. */
const BY_ADMINISTRATORS = new Set([
  'acm import-certificate',
  'backup delete-backup-vault',
  'backup start-restore-job',
  'backup update-global-settings',
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

function commandsOf(document: string) {
  const found = projectText(document).matchAll(/\baws ([a-z0-9]+) ([a-z0-9-]+)/g)
  const commands = [...found].map(([, service, command]) => `${service} ${command}`)
  return [...new Set(commands)].filter((command) => !BY_ANYONE.has(command))
}

function actionsOf(command: string) {
  const [service = '', name = ''] = command.split(' ')
  const action = name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return ACTIONS[command] ?? [`${service.replace(/^deploy$/, 'codedeploy')}:${action}`]
}

function policyText(name: string) {
  const policies = synthesised('prod').all('AWS::IAM::ManagedPolicy')
  return JSON.stringify(policies.find(({ ManagedPolicyName }) => ManagedPolicyName === name))
}

function allowedBy(name: string) {
  return new Set(policyText(name).match(/[a-z0-9]+:[A-Z][A-Za-z]+/g))
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

/** docs/operations.md, section 6: what the person on call has. */
const ON_CALL = ['look', 'support', 'oncall'] as const

/** The duties of the actions that a paragraph names, where the person on call has none of them. */
function dutiesBesides(paragraph: string) {
  const named = [...paragraph.matchAll(/(?:admin -- |`)([a-z]+(?:-[a-z]+)+)/g)]
  return named.flatMap(([, action]) =>
    MANIFEST.flatMap((spec) =>
      spec.name === action &&
      spec.trigger.kind === 'operator' &&
      !ON_CALL.some((role) => mayInvoke(role, spec))
        ? [spec.trigger.duty]
        : [],
    ),
  )
}

describe('the actions of the runbook', () => {
  it('are those of the person on call, or stand beside the duty that must be woken', () => {
    const paragraphs = projectText('docs/runbook.md').split('\n\n')
    const duties = paragraphs.map(dutiesBesides)

    expect(duties.flat().length).toBeGreaterThan(10)
    const unmarked = paragraphs.filter((paragraph, at) =>
      duties[at]?.some((duty) => !paragraph.toLowerCase().includes(duty)),
    )
    expect(unmarked).toStrictEqual([])
  })
})

function resourcesOf(action: string) {
  const statements: readonly { readonly Action: unknown; readonly Resource: unknown }[] =
    JSON.parse(policyText('gateway-prod-oncall')).PolicyDocument.Statement
  return statements
    .filter(({ Action }) => [Action].flat().includes(action))
    .flatMap(({ Resource }) => Resource)
}

const SCHEDULED = [
  'audit-clients',
  'check-due-work',
  'compare-balance',
  'sweep-settlements',
  'sync-provider-transactions',
]

it.each([
  [
    'starts what schedules start, and the audit, which moves no money',
    'lambda:InvokeFunction',
    [...SCHEDULED, 'audit-ledger'],
  ],
  [
    'sends no message to the settlements, which may name an operator of finance',
    'sqs:SendMessage',
    QUEUE_NAMES.filter((name) => name !== 'settlements'),
  ],
  [
    'turns off schedules, and no rule that tells who weakens a protection',
    'events:DisableRule',
    SCHEDULED,
  ],
])('the person on call %s', (_, action, names) => {
  const found = JSON.stringify(resourcesOf(action)).match(/(?<=gateway-prod-)[a-z*-]+/g)

  expect(found?.toSorted()).toStrictEqual(names.toSorted())
})

it('the person on call opens the dashboard, and stops deployments, which IAM allows for all or for none', () => {
  expect(resourcesOf('cloudwatch:GetDashboard')).toHaveLength(1)
  expect(resourcesOf('cloudwatch:GetMetricData')).toStrictEqual(['*'])
  expect(resourcesOf('codedeploy:StopDeployment')).toStrictEqual(['*'])
})
