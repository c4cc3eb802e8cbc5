import type { Stack } from 'aws-cdk-lib'
import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'

/** Told while there is time to act, and again when the month will cost more than was named. */
const TOLD_AT = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
] as const

/**
 * What the account may cost a month, if the stage names an amount, told to those who read alarms. The whole account:
 * costs by tag would be none until a person activates the tag. The topic is in another region, so addresses are told.
 */
export const addMonthlyBudget = (stack: Stack, stage: DeployedStage): void => {
  const { monthlyBudgetUsd: amount, alarmRecipients } = stage
  if (amount === undefined) return
  const subscribers = alarmRecipients.map((address) => ({ subscriptionType: 'EMAIL', address }))
  new CfnBudget(stack, 'Budget', {
    budget: {
      budgetName: stackNameOf(stage),
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount, unit: 'USD' },
    },
    ...(subscribers.length > 0 && {
      notificationsWithSubscribers: TOLD_AT.map((told) => ({
        notification: { ...told, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
        subscribers,
      })),
    }),
  })
}
