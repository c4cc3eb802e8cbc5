import { GetAccountSettingsCommand, type LambdaClient } from '@aws-sdk/client-lambda'
import { type DeployedStage, hasAlarms } from '../../stack/stage.ts'
import { type Finding, ok, wrong } from './finding.ts'

/** Whether the alarm near the account's limit counts with the limit that the account has. Nothing without alarms. */
export const checkAccountConcurrency = async (
  lambda: LambdaClient,
  stage: DeployedStage,
): Promise<readonly Finding[]> => {
  if (!hasAlarms(stage)) return []
  const what = 'account concurrency'
  const { AccountLimit: { ConcurrentExecutions: limit } = {} } = await lambda.send(new GetAccountSettingsCommand({}))
  return limit === stage.accountConcurrency
    ? [ok(what, `${limit}, with which concurrency-near-limit counts`)]
    : [
        wrong(
          what,
          `${limit ?? 'unknown'}, and concurrency-near-limit counts with ${stage.accountConcurrency}`,
          'set accountConcurrency in infra/stack/stage.ts and deploy',
        ),
      ]
}
