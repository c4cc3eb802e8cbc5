import { DeleteTableCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { ListFunctionsCommand } from '@aws-sdk/client-lambda'
import { ListSecretsCommand } from '@aws-sdk/client-secrets-manager'
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'
import { runTool } from '../run-tool.ts'

/** A disposable stage goes without a trace. */
export const destroyStage = async ({ env, step }: Rehearsal, region: string): Promise<void> => {
  await step(`the restored tables in ${region} are deleted by hand`, async () => {
    const { dynamodb } = awsClients(region)
    const { TableNames: names = [] } = await dynamodb.send(new ListTablesCommand({}))
    for (const TableName of names.filter((name) => name.startsWith(`${STACK}-`))) {
      await dynamodb.send(new DeleteTableCommand({ TableName }))
    }
  })
  await step(`npx cdk destroy --all in ${region}`, async () => {
    const args = ['cdk', 'destroy', '--all', '--force', '-c', `stage=${STAGE}`]
    const { code, errors } = await runTool('npx', args, { env: { ...env, AWS_REGION: region } })
    expect(code === 0, `cdk destroy: ${errors.slice(-2_000)}`)
  })
  await step('nothing of it is left', async () => {
    const { dynamodb, lambda, secretsManager } = awsClients(region)
    const [tables, functions, secrets, queues] = await Promise.all([
      dynamodb.send(new ListTablesCommand({})),
      lambda.send(new ListFunctionsCommand({})),
      secretsManager.send(new ListSecretsCommand({})),
      new SQSClient({ region }).send(new ListQueuesCommand({})),
    ])
    const left = [
      ...(tables.TableNames ?? []),
      ...(functions.Functions ?? []).map(({ FunctionName }) => FunctionName),
      ...(secrets.SecretList ?? []).map(({ Name }) => Name),
      ...(queues.QueueUrls ?? []),
    ]
    expect(left.length === 0, `left behind: ${left.join(', ')}`)
  })
}
