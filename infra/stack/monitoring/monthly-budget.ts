import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { Construct } from 'constructs'
import { stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'

/** Told while there is time to act, and again when the month will cost more than was named. */
const TOLD_AT = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
] as const

/**
 * What the account may cost a month, told to those who read alarms. The whole account: costs by tag would be none until
 * a person activates the tag. Billing has no topic of the stage's region, so the addresses are told directly.
 */
export class MonthlyBudget extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { stage, amountUsd }: { readonly stage: DeployedStage; readonly amountUsd: number },
  ) {
    super(scope, id)
    const subscribers = stage.alarmRecipients.map((address) => ({ subscriptionType: 'EMAIL', address }))
    new CfnBudget(this, 'Budget', {
      budget: {
        budgetName: stackNameOf(stage),
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: amountUsd, unit: 'USD' },
      },
      ...(subscribers.length > 0 && {
        notificationsWithSubscribers: TOLD_AT.map((told) => ({
          notification: { ...told, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
          subscribers,
        })),
      }),
    })
  }
}
