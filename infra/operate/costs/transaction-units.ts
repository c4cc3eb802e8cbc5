import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { attributeBytes, type Index, indexEntry } from './stored-bytes.ts'

type Item = Readonly<Record<string, unknown>>

const KeySchema = v.object({ pk: v.string(), sk: v.string() })
const Target = v.object({ TableName: v.string(), Key: KeySchema })
const Step = v.union([
  v.object({ Put: v.object({ TableName: v.string(), Item: KeySchema }) }),
  v.object({ Update: Target }),
  v.object({ Delete: Target }),
  v.object({ ConditionCheck: Target }),
])
const Input = v.object({ TransactItems: v.array(Step) })

const addressOf = (step: v.InferOutput<typeof Step>) => {
  if ('Put' in step) return { TableName: step.Put.TableName, Key: step.Put.Item }
  if ('Update' in step) return step.Update
  return 'Delete' in step ? step.Delete : step.ConditionCheck
}

/** DynamoDB prepares and commits each item of a transaction, and bills both. */
const TRANSACTIONAL = 2

const kilobytes = (item: Item | undefined): number => (item ? Math.ceil(attributeBytes(item) / 1_024) : 0)

const indexUnits = (index: Index, before: Item | undefined, after: Item | undefined): number => {
  const [was, is] = [before && indexEntry(before, index), after && indexEntry(after, index)]
  if (was === undefined || is === undefined) return kilobytes(was ?? is)
  if (JSON.stringify(was) === JSON.stringify(is)) return 0
  const moved = [...index.partition, ...index.sort].some((name) => was[name] !== is[name])
  return moved ? kilobytes(was) + kilobytes(is) : Math.max(kilobytes(was), kilobytes(is))
}

/**
 * Write units of a transaction by the published rules: for each item and each index, from what it was and what it became.
 * DynamoDB Local answers too few of them: it counts steps of the same size only once.
 */
export const transactionUnits = async (
  client: DynamoDBDocumentClient,
  input: object,
  run: () => Promise<unknown>,
): Promise<{ readonly answer: unknown; readonly units: number }> => {
  const addresses = v.parse(Input, input).TransactItems.map(addressOf)
  const read = () =>
    Promise.all(
      addresses.map(async ({ TableName, Key: { pk, sk } }) => {
        const { Item: item } = await client.send(new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }))
        return item
      }),
    )
  const before = await read()
  const answer = await run()
  const after = await read()
  const units = before.reduce((sum, was, at) => {
    const is = after[at]
    const inIndexes = Object.values(TABLE_SCHEMA.indexes).reduce((all, index) => all + indexUnits(index, was, is), 0)
    return sum + Math.max(kilobytes(was), kilobytes(is), 1) + inIndexes
  }, 0)
  return { answer, units: TRANSACTIONAL * units }
}
