import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GetCommand, PutCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { localAws, startDynamoDbLocal } from '../../../infra/local/emulators/dynamodb-local.ts'
import { costReport, withReport } from '../../../infra/operate/costs/cost-report.ts'
import { countingClient } from '../../../infra/operate/costs/counting-client.ts'
import { idleCosts } from '../../../infra/operate/costs/idle-components.ts'
import { type Measured, measureFlows } from '../../../infra/operate/costs/measure-flows.ts'
import { storedBytes } from '../../../infra/operate/costs/stored-bytes.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { stageTemplate } from '../../../infra/stack/stage-template.ts'
import { PAYMENT_UNITS } from '../../../infra/stack/storage/table-capacity.ts'
import { documentClient } from '../../../shared/runtime/aws/aws-table.ts'

const template = stageTemplate(deployedStage('prod'))
const anyResource = template.ofType('AWS::SNS::Topic')[0]
if (!anyResource) throw new Error('the template has no topic')
const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8')

let measured: Measured

beforeAll(async () => {
  // A DynamoDB Local of its own: beside other tests, whose many items it searches too, this takes twenty times as long.
  const dynamodb = await startDynamoDbLocal()
  try {
    measured = await measureFlows(dynamodb.endpoint)
  } finally {
    await dynamodb.close()
  }
}, 180_000)

describe('the costs in docs/operations.md', () => {
  it('are those that `npm run costs -- --write` puts there', () => {
    expect(withReport(DOCUMENT, costReport(template, measured))).toBe(DOCUMENT)
  })

  it('change with a price, a count or a measurement', () => {
    const dearer = {
      ...measured,
      perPayment: measured.perPayment.map((flow) => ({ ...flow, writes: flow.writes + 1 })),
    }

    expect(withReport(DOCUMENT, costReport(template, dearer))).not.toBe(DOCUMENT)
  })

  it('refuse a document without a place for them', () => {
    expect(() => withReport('# Running the gateway', '')).toThrow('no place for the costs')
  })
})

describe('the measured flows', () => {
  it('are every step of a payment, each with its writes', () => {
    expect(measured.perPayment.map(({ name, writes }) => [name, writes > 0])).toStrictEqual([
      ['created', true],
      ['paid, credited', true],
      ['announced', true],
      ['delivered', true],
      ['fetched once', false],
      ['looked at by the sync', false],
      ['fee made final', true],
      ['settled', true],
    ])
  })

  it('are what the throttle of creates counts with, rounded up', () => {
    const total = (of: (flow: Measured['perPayment'][number]) => number) =>
      measured.perPayment.reduce((sum, flow) => sum + of(flow), 0)
    const created = measured.perPayment.find(({ name }) => name === 'created')

    for (const [counted, used] of [
      [PAYMENT_UNITS.writes, total(({ writes }) => writes)],
      [PAYMENT_UNITS.reads, total(({ reads }) => reads)],
      [PAYMENT_UNITS.created.writes, created?.writes ?? 0],
      [PAYMENT_UNITS.created.reads, created?.reads ?? 0],
    ] as const) {
      expect(counted).toBeGreaterThanOrEqual(used)
      expect(counted).toBeLessThanOrEqual(used * 1.1 + 1)
    }
  })

  it('give a delivery up after eight attempts and the hops between them', () => {
    expect(measured.abandoned).toMatchObject({ invocations: 15, messages: 15 })
  })

  it('find nothing to write in an idle minute, and pay for looking', () => {
    expect(measured.idleRuns[0]).toMatchObject({ functionName: 'check-due-work', writes: 0, reads: 24.5 })
  })
})

describe('the idle costs', () => {
  it('count what the template has', () => {
    const secrets = (number: number) =>
      idleCosts(
        {
          ...template,
          ofType: (type) =>
            type === 'AWS::SecretsManager::Secret'
              ? Array(number).fill(template.ofType(type)[0])
              : template.ofType(type),
        },
        measured,
      ).find(({ component }) => component === 'Secrets Manager')?.usd

    expect([secrets(1), secrets(3)]).toStrictEqual([0.4, expect.closeTo(1.2)])
  })
})

describe('our own metrics', () => {
  it('are counted once for each set of dimensions, those of a channel apart', () => {
    // Payments by outcome and by channel, deliveries, the way to the merchant, the provider's calls, a settlement.
    expect(measured.series).toStrictEqual({ idle: 14, channel: 13 })
  })

  it('make an alarm on an expression dearer than one on a single metric', () => {
    const alarmsOf = (properties: object) =>
      idleCosts(
        {
          ...template,
          ofType: (type) =>
            type === 'AWS::CloudWatch::Alarm' ? [{ ...anyResource, properties: { ...properties } }] : [],
        },
        measured,
      ).find(({ component }) => component === 'CloudWatch alarms')?.basis

    expect(alarmsOf({ MetricName: 'Payments' })).toBe('1 metrics that alarms look at')
    expect(alarmsOf({ Metrics: [{ MetricStat: {} }, { MetricStat: {} }, { Expression: 'a / b' }] })).toBe(
      '2 metrics that alarms look at',
    )
  })
})

describe('countingClient', () => {
  it('counts what DynamoDB bills: tables and indexes, transactions twice, reads that find nothing', async () => {
    const plain = documentClient(localAws(inject('dynamodbEndpoint')))
    onTestFinished(() => plain.destroy())
    const { client, take } = countingClient(plain)
    const TableName = inject('tableName')
    const pk = `costs-${randomUUID()}`
    const listed = { owner: pk, entity: 'costs', listed_at: 'now', id: pk }
    const costOf = async (run: () => Promise<unknown>) => {
      await run()
      return take()
    }

    expect(await costOf(() => client.send(new PutCommand({ TableName, Item: { pk, sk: 'a' } })))).toMatchObject({
      writes: 1,
    })
    expect(
      await costOf(() => client.send(new PutCommand({ TableName, Item: { pk, sk: 'b', ...listed } }))),
    ).toMatchObject({ writes: 2 })
    const TransactItems = ['c', 'd'].map((sk) => ({ Put: { TableName, Item: { pk, sk } } }))
    expect(await costOf(() => client.send(new TransactWriteCommand({ TransactItems })))).toMatchObject({ writes: 4 })
    const moved = { ExpressionAttributeNames: { '#id': 'id' }, ExpressionAttributeValues: { ':id': 'another' } }
    const Update = { TableName, Key: { pk, sk: 'b' }, UpdateExpression: 'SET #id = :id', ...moved }
    expect(await costOf(() => client.send(new TransactWriteCommand({ TransactItems: [{ Update }] })))).toMatchObject({
      writes: 6,
    })
    const Key = { pk, sk: 'missing' }
    expect(await costOf(() => client.send(new GetCommand({ TableName, Key, ConsistentRead: true })))).toMatchObject({
      reads: 1,
    })
    const query = {
      TableName,
      IndexName: 'by-owner',
      KeyConditionExpression: '#owner = :nobody AND entity = :nobody',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':nobody': pk + pk },
    }
    expect(await costOf(() => client.send(new QueryCommand(query)))).toMatchObject({ reads: 0.5 })
  })
})

describe('storedBytes', () => {
  const index = { partition: ['owner'], sort: ['id'], include: [] }

  it('adds the overhead of the item and of every index that has it', () => {
    expect(storedBytes({ pk: 'ab', sk: 'c' }, [index])).toBe(2 + 2 + 2 + 1 + 100)
    expect(storedBytes({ pk: 'ab', sk: 'c', owner: 'o', id: 'i', n: 12 }, [index])).toBe(
      7 + 6 + 3 + (1 + 2) + 100 + (7 + 6 + 3 + 100),
    )
  })
})
