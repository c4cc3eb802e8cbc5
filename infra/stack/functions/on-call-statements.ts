import { Stack } from 'aws-cdk-lib'
import type { PolicyStatementProps } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import { QUEUE_NAMES } from '../../../shared/queues.ts'
import type { DataStack } from '../data-stack.ts'
import { type DeployedStage, scheduleNames, stackNameOf } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

type Names = { readonly scope: Construct; readonly name: string }

/**
 * What the commands of the runbook need besides the duties look and support: no table, no secret,
 * no message that is not set aside, and no deployment but of a version that was live.
 */
export function onCallStatements(
  scope: Construct,
  stage: DeployedStage,
  data: DataStack,
): readonly PolicyStatementProps[] {
  const names = { scope, name: stackNameOf(stage) }
  const schedules = {
    sid: 'Schedules',
    actions: [
      'events:DescribeRule',
      'events:DisableRule',
      'events:EnableRule',
      'events:ListTargetsByRule',
    ],
    // Without the rule of protections: its alert says who weakens a protection.
    resources: scheduleNames(stage).map((rule) => arnOf(scope, 'events', `rule/${rule}`)),
  }
  return [...looks(names), ...repairs(names), schedules, ...queues(names), ...keyUse(names, data)]
}

function looks({ scope, name }: Names): readonly PolicyStatementProps[] {
  // The front and its probe are in another region.
  const logs = [`/aws/lambda/${name}-*`, `/aws/vendedlogs/*/${name}*`, `aws-waf-logs-${name}*`]
  return [
    {
      // AWS allows these for all resources or for none, or the command asks about all.
      sid: 'Look',
      actions: [
        'acm:ListCertificates',
        'backup:ListCopyJobs',
        'cloudwatch:DescribeAlarms',
        'cloudwatch:GetMetricData',
        'codedeploy:ListDeployments',
        'lambda:GetAccountSettings',
        'lambda:ListEventSourceMappings',
        'logs:DescribeLogGroups',
        'logs:GetQueryResults',
      ],
      resources: ['*'],
    },
    {
      sid: 'Dashboard',
      actions: ['cloudwatch:GetDashboard'],
      resources: [arnOf(scope, 'cloudwatch', `dashboard/${name}`, '')],
    },
    {
      sid: 'Logs',
      actions: ['logs:FilterLogEvents', 'logs:StartQuery'],
      resources: logs.map((group) => arnOf(scope, 'logs', `log-group:${group}:*`, '*')),
    },
    {
      sid: 'Table',
      actions: ['dynamodb:DescribeTable'],
      resources: [arnOf(scope, 'dynamodb', `table/${name}*`)],
    },
  ]
}

function repairs({ scope, name }: Names): readonly PolicyStatementProps[] {
  const functions = arnOf(scope, 'lambda', `function:${name}-*`)
  return [
    {
      sid: 'QuietAlarms',
      actions: ['cloudwatch:PutMetricData'],
      resources: ['*'],
      conditions: { StringEquals: { 'cloudwatch:namespace': 'PaymentGateway/Operators' } },
    },
    {
      sid: 'Functions',
      actions: [
        'lambda:GetFunctionRecursionConfig',
        'lambda:GetPolicy',
        'lambda:ListVersionsByFunction',
        'lambda:UpdateAlias',
      ],
      resources: [functions],
    },
    {
      sid: 'EventSources',
      actions: ['lambda:UpdateEventSourceMapping'],
      resources: [arnOf(scope, 'lambda', 'event-source-mapping:*')],
      conditions: { ArnLike: { 'lambda:FunctionArn': functions } },
    },
    // IAM allows this call for all deployments or for none.
    { sid: 'Releases', actions: ['codedeploy:StopDeployment'], resources: ['*'] },
  ]
}

function queues({ scope, name }: Names): readonly PolicyStatementProps[] {
  return [
    {
      // A move of set-aside messages also deletes them there and sends them to their queue.
      sid: 'Queues',
      actions: [
        'sqs:DeleteMessage',
        'sqs:GetQueueAttributes',
        'sqs:GetQueueUrl',
        'sqs:ListMessageMoveTasks',
        'sqs:PurgeQueue',
        'sqs:ReceiveMessage',
        'sqs:StartMessageMoveTask',
      ],
      resources: [arnOf(scope, 'sqs', `${name}-*-dead`)],
    },
    {
      // Messages of settlements may name an operator, for whom the worker settles a client. So they
      // are not moved: the sweep does their work again.
      sid: 'MovedMessages',
      actions: ['sqs:SendMessage'],
      resources: QUEUE_NAMES.filter((queue) => queue !== 'settlements').map((queue) =>
        arnOf(scope, 'sqs', `${name}-${queue}`),
      ),
    },
  ]
}

function keyUse({ scope }: Names, { sealKey }: DataStack): readonly PolicyStatementProps[] {
  return [
    {
      sid: 'Key',
      actions: ['kms:CancelKeyDeletion', 'kms:EnableKey'],
      resources: [sealKey.keyArn],
    },
    {
      // Of the messages, where the stage encrypts its queues with its key.
      sid: 'Messages',
      actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
      resources: [sealKey.keyArn],
      conditions: {
        StringEquals: { 'kms:ViaService': `sqs.${Stack.of(scope).region}.amazonaws.com` },
      },
    },
  ]
}
