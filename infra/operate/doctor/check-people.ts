import type { Stack } from '@aws-sdk/client-cloudformation'
import { type IAMClient, paginateListEntitiesForPolicy } from '@aws-sdk/client-iam'
import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns'
import { outputOf } from '../check/aws-clients.ts'
import { type Finding, ok, runCheck, wrong } from '../check/finding.ts'

const NO_SUBSCRIBER =
  'set alarmRecipients and pageRecipients in infra/stages/STAGE.json and deploy, or subscribe ' +
  'someone'

/** Whether each topic has a confirmed subscriber. A stage without alarms needs none. */
export async function checkAlerts(
  sns: SNSClient,
  stack: Stack,
  hasAlarms: boolean,
): Promise<readonly Finding[]> {
  const outputs = hasAlarms ? ['AlertsTopicArn', 'PagesTopicArn'] : ['AlertsTopicArn']
  const checks = outputs.map(async (output) => {
    const TopicArn = outputOf(stack, output)
    const what = `topic ${TopicArn?.split(':').at(-1) ?? output}`
    if (TopicArn === undefined)
      return [wrong(what, 'is not an output of the stack', 'npm run deploy')]
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
      if (!hasAlarms) return ok(what, `${detail}; a stage without alarms needs none`)
      return wrong(
        what,
        detail,
        pending > 0 ? 'confirm by the link in the mail AWS sent' : NO_SUBSCRIBER,
      )
    })
  })
  return (await Promise.all(checks)).flat()
}

const NOT_CHECKED =
  'not checked: holders through a group or an assumed role, and copies of the policies'

/** No person changes bank details and pays out, or approves what the same person then does. */
const APART = [
  ['admin', 'finance'],
  ['finance', 'approve'],
] as const

/**
 * Whether no person holds two duties that must be apart (design section 11). Names each user, group
 * and role to which both policies are attached.
 */
export async function checkDuties(iam: IAMClient, stack: Stack): Promise<readonly Finding[]> {
  return (await Promise.all(APART.map((pair) => checkApart(iam, stack, pair)))).flat()
}

function checkApart(
  iam: IAMClient,
  stack: Stack,
  [first, second]: (typeof APART)[number],
): Promise<readonly Finding[]> {
  const what = `duties ${first} and ${second}`
  const [one, other] = [first, second].map((duty) =>
    outputOf(stack, `${duty[0]?.toUpperCase()}${duty.slice(1)}PolicyArn`),
  )
  return runCheck(what, async () => {
    if (!one || !other)
      return wrong(what, 'their policies are no outputs of the stack', 'npm run deploy')
    const [holders, others] = await Promise.all([holdersOf(iam, one), holdersOf(iam, other)])
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

async function holdersOf(client: IAMClient, PolicyArn: string): Promise<Set<string>> {
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
