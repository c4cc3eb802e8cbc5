import { assertReservable } from './settings/reserved-concurrency.ts'
import { type DeployedStage, hasAlarms } from './stage.ts'

/** The most recipients of one AWS Budgets notification. */
const MAX_BUDGET_RECIPIENTS = 10

/**
 * Refuses settings that only the local gateway allows, such as webhooks to loopback addresses,
 * which would reach the Lambda runtime's own API.
 */
export function assertDeployable(stage: DeployedStage) {
  const { settings, front, domain, copies } = stage
  const faults: Readonly<Record<string, boolean>> = {
    'requests of a closed stage fail, and a canary would roll it back: set deployment: alias-only':
      stage.role === 'closed' && stage.deployment === 'canary',
    'the stack cannot own a table that is not restored yet: adopted is at most generation':
      stage.table.adopted > stage.table.generation,
    'webhooks to loopback addresses exist only in the local gateway':
      settings.allowLoopbackWebhooks,
    'CloudFront needs a domain, because the generated address of API Gateway stays open':
      front === 'cloudfront' && domain === undefined,
    'monthlyBudgetUsd needs front: cloudfront, because a budget is made in the front’s region':
      stage.monthlyBudgetUsd !== undefined && front !== 'cloudfront',
    'a budget notifies ten addresses at most, and alarmRecipients has more':
      stage.monthlyBudgetUsd !== undefined && stage.alarmRecipients.length > MAX_BUDGET_RECIPIENTS,
    'the alarm protection-changed hears of events by the trail: set invocationTrail: true':
      hasAlarms(stage) && !stage.invocationTrail,
    'copies are for the loss of the region, so copies.region is another region':
      copies !== undefined && copies.region === stage.location?.region,
    [`${domain?.name} is not in the zone ${domain?.zone.name}`]:
      domain !== undefined && !`.${domain.name}`.endsWith(`.${domain.zone.name}`),
  }
  for (const [reason, isPresent] of Object.entries(faults)) {
    if (isPresent) throw new Error(`stage ${settings.name}: ${reason}`)
  }
  assertReservable(stage)
}
