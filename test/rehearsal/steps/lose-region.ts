import * as dynamodb from '@aws-sdk/client-dynamodb'
import { ListFunctionsCommand } from '@aws-sdk/client-lambda'
import { ListSecretsCommand } from '@aws-sdk/client-secrets-manager'
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { removeDutyPolicies } from '../duty-holders.ts'
import { ACCOUNT, REGION } from '../emulator.ts'
import { type Merchant, merchantAt, type Payment, PaymentSchema } from '../merchant.ts'
import { expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'
import { releaseOf } from '../release.ts'
import { connectProvider } from './deploy-stage.ts'
import { RESTORED } from './restore-stage.ts'

export const OTHER_REGION = 'ap-southeast-1'

/** Moves the stage to another region, with a copy of the table: docs/operations.md, section 8. */
export async function loseRegion(rehearsal: Rehearsal, merchant: Merchant, known: Payment) {
  const { step, tool, cannot } = rehearsal
  const there = { env: { AWS_REGION: OTHER_REGION } }
  await step('a lost region: a copy of the table is in another one', async () => {
    await makeTable()
    expect((await copyRows()) > 0, 'there was nothing to copy')
    cannot('AWS Backup copies nothing to another region: the rows were written there one by one')
    const bootstrap = ['cdk', 'bootstrap', `aws://${ACCOUNT}/${OTHER_REGION}`]
    const { code, errors } = await tool('npx', bootstrap, there)
    expect(code === 0, `cdk bootstrap: ${errors.slice(-2_000)}`)
  })
  await step(
    'its names that are not regional make way: the policies of the duties',
    removeDutyPolicies,
  )
  const deployClosed = () => {
    const closed = { role: 'closed', table: { generation: 2, adopted: 2 } }
    return rehearsal.deploy(releaseOf(rehearsal, 'closed-elsewhere', closed), there)
  }
  await step('the stage is deployed there, closed, with an empty table', deployClosed)
  const finish = async () => {
    const open = releaseOf(rehearsal, 'open-elsewhere', { table: { generation: 3, adopted: 2 } })
    await rehearsal.npm(['restore', '--finish'], { ...there, cwd: open })
    await rehearsal.deploy(open, there)
  }
  await step(
    'npm run restore --finish completes the copy, and the stage is deployed open on it',
    finish,
  )
  const goOn = async () => {
    const moved = merchantAt(rehearsal, await connectProvider(rehearsal, OTHER_REGION), merchant)
    const { status } = await moved.get(PaymentSchema, `payments/${known.id}`)
    expect(status === known.status, `the payment is ${status}`)
    await moved.pay(await moved.create('order-7'))
  }
  await step('there the merchant finds its payment, and another one is paid', goOn)
}

/** The copy of the restored table, as the other region's next generation. */
const COPY = `${STACK}-3`

async function makeTable() {
  const [from, to] = tables()
  const { Table: table = {} } = await from.send(
    new dynamodb.DescribeTableCommand({ TableName: RESTORED }),
  )
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes: indexes = [] } = table
  const GlobalSecondaryIndexes = indexes.map(({ IndexName, KeySchema: key, Projection }) => {
    return { IndexName, KeySchema: key, Projection }
  })
  const keys = { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes }
  await to.send(
    new dynamodb.CreateTableCommand({ TableName: COPY, BillingMode: 'PAY_PER_REQUEST', ...keys }),
  )
}

function tables() {
  return [awsClients(REGION).dynamodb, awsClients(OTHER_REGION).dynamodb] as const
}

async function copyRows() {
  const [client, to] = tables()
  let copied = 0
  for await (const { Items = [] } of dynamodb.paginateScan({ client }, { TableName: RESTORED })) {
    for (const Item of Items) await to.send(new dynamodb.PutItemCommand({ TableName: COPY, Item }))
    copied += Items.length
  }
  return copied
}

export async function destroyStage({ tool, step }: Rehearsal, region: string) {
  await step(`the restored tables in ${region} are deleted by hand`, async () => {
    const client = awsClients(region).dynamodb
    const { TableNames: names = [] } = await client.send(new dynamodb.ListTablesCommand({}))
    for (const TableName of names.filter((name) => name.startsWith(`${STACK}-`))) {
      await client.send(new dynamodb.DeleteTableCommand({ TableName }))
    }
  })
  await step(`npx cdk destroy --all in ${region}`, async () => {
    const args = ['cdk', 'destroy', '--all', '--force', '-c', `stage=${STAGE}`]
    const { code, errors } = await tool('npx', args, { env: { AWS_REGION: region } })
    expect(code === 0, `cdk destroy: ${errors.slice(-2_000)}`)
  })
  await step('nothing of it is left', async () => {
    const aws = awsClients(region)
    const [kept, functions, secrets, queues] = await Promise.all([
      aws.dynamodb.send(new dynamodb.ListTablesCommand({})),
      aws.lambda.send(new ListFunctionsCommand({})),
      aws.secretsManager.send(new ListSecretsCommand({})),
      new SQSClient({ region }).send(new ListQueuesCommand({})),
    ])
    const left = [
      ...(kept.TableNames ?? []),
      ...(functions.Functions ?? []).map(({ FunctionName }) => FunctionName),
      ...(secrets.SecretList ?? []).map(({ Name }) => Name),
      ...(queues.QueueUrls ?? []),
    ]
    expect(left.length === 0, `left behind: ${left.join(', ')}`)
  })
}
