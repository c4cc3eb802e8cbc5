import type { Stack } from '@aws-sdk/client-cloudformation'
import { type IAMClient, paginateListEntitiesForPolicy } from '@aws-sdk/client-iam'
import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns'
import { type DeployedStage, FRONT_REGION, hasAlarms, stackNameOf } from '../../stack/stage.ts'
import { outputOf } from '../check/aws-clients.ts'
import { ok, runCheck, wrong } from '../check/finding.ts'
import type { Examination } from './check-stack.ts'

const NO_SUBSCRIBER =
  'set alarmRecipients and pageRecipients in infra/stages/STAGE.json and deploy, or subscribe ' +
  'someone'

/** Each topic needs a confirmed subscriber, except in a stage without alarms. */
export async function checkAlerts(
  { stage, aws }: Pick<Examination, 'stage' | 'aws'>,
  stack: Stack,
) {
  const isNeeded = hasAlarms(stage)
  const [, partition, , here = '', account] = outputOf(stack, 'AlertsTopicArn')?.split(':') ?? []
  const topics = [[here, 'alerts'], ...(isNeeded ? topicsOfAlarms(stage, here) : [])] as const
  const checks = topics.map(([region, name]) => {
    const topicArn = `arn:${partition}:sns:${region}:${account}:${stackNameOf(stage, name)}`
    return checkTopic(aws.snsIn(region), topicArn, isNeeded)
  })
  return (await Promise.all(checks)).flat()
}

/** Topics in another account are out of reach. */
function topicsOfAlarms({ front, copies }: DeployedStage, here: string) {
  return [
    [here, 'pages'],
    ...(front === 'cloudfront'
      ? ([
          [FRONT_REGION, 'front-alerts'],
          [FRONT_REGION, 'front-pages'],
        ] as const)
      : []),
    ...(copies && !copies.account ? [[copies.region, 'copies-pages'] as const] : []),
  ] as const
}

function checkTopic(sns: SNSClient, TopicArn: string, isNeeded: boolean) {
  const what = `topic ${TopicArn.split(':').at(-1)}`
  return runCheck(what, async () => {
    // One page is enough: a page has a hundred subscriptions.
    const { Subscriptions: subscriptions = [] } = await sns.send(
      new ListSubscriptionsByTopicCommand({ TopicArn }),
    )
    // AWS lists a subscription as `Deleted` for some days.
    const confirmed = subscriptions.filter(({ SubscriptionArn: arn }) =>
      arn?.startsWith('arn:'),
    ).length
    const pending = subscriptions.filter(
      ({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation',
    ).length
    const detail = `${confirmed} confirmed, ${pending} waiting for confirmation`
    if (confirmed > 0) return ok(what, detail)
    if (!isNeeded) return ok(what, `${detail}; a stage without alarms needs none`)
    return wrong(
      what,
      detail,
      pending > 0 ? 'confirm by the link in the mail AWS sent' : NO_SUBSCRIBER,
    )
  })
}

const NOT_CHECKED =
  'not checked: holders through a group or an assumed role, and copies of the policies'

/** No person changes bank details and pays out, or approves what the same person then does. */
const APART = [
  ['admin', 'finance'],
  ['finance', 'approve'],
] as const

/**
 * No person may hold two duties that must be apart (design section 11). Names each user, group and
 * role that has both policies.
 */
export async function checkDuties(iam: IAMClient, stack: Stack) {
  return (await Promise.all(APART.map((pair) => checkApart(iam, stack, pair)))).flat()
}

function checkApart(iam: IAMClient, stack: Stack, [first, second]: (typeof APART)[number]) {
  const what = `duties ${first} and ${second}`
  const holdersBy = (duty: string) =>
    holdersOf(iam, outputOf(stack, `${duty[0]?.toUpperCase()}${duty.slice(1)}PolicyArn`))
  return runCheck(what, async () => {
    const [holders, others] = await Promise.all([holdersBy(first), holdersBy(second)])
    const both = [...holders.intersection(others)]
    return both.length === 0
      ? ok(what, `no user, group or role holds both; ${NOT_CHECKED}`)
      : wrong(
          what,
          `both are held by ${both.join(', ')}; ${NOT_CHECKED}`,
          'detach one of the two policies',
        )
  })
}

async function holdersOf(client: IAMClient, PolicyArn: string | undefined) {
  const holders = new Set<string>()
  for await (const page of paginateListEntitiesForPolicy(
    { client, stopOnSameToken: true },
    { PolicyArn },
  )) {
    for (const { UserName: name } of page.PolicyUsers ?? []) holders.add(`user ${name}`)
    for (const { GroupName: name } of page.PolicyGroups ?? []) holders.add(`group ${name}`)
    for (const { RoleName: name } of page.PolicyRoles ?? []) holders.add(`role ${name}`)
  }
  return holders
}
