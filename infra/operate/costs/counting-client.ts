import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { transactionUnits } from './transaction-units.ts'

/** Request units as DynamoDB bills them: table and indexes together. */
export type Units = { readonly reads: number; readonly writes: number }

const Consumed = v.object({ CapacityUnits: v.number() })
const Answer = v.object({ ConsumedCapacity: v.optional(v.union([Consumed, v.array(Consumed)])) })

const READS = new Set(['GetCommand', 'BatchGetCommand', 'QueryCommand'])

const Read = v.object({
  ConsistentRead: v.optional(v.boolean(), false),
  RequestItems: v.optional(v.record(v.string(), v.object({ Keys: v.array(v.unknown()) }))),
})

/** DynamoDB bills a read that finds nothing, and each key of a batch that is not there; DynamoDB Local does not. */
const leastReads = (input: object): number => {
  const { ConsistentRead, RequestItems } = v.parse(Read, input)
  if (RequestItems) return Object.values(RequestItems).reduce((sum, { Keys }) => sum + Keys.length, 0)
  return ConsistentRead ? 1 : 0.5
}

/**
 * The client, and a running count of the units its commands use, as the table itself answers them. `INDEXES` makes it
 * count the writes to indexes too; transactions are computed from the items. A refused condition is not counted (it costs one write,
 * and the measured flows meet none).
 */
export const countingClient = (client: DynamoDBDocumentClient) => {
  const counted = { reads: 0, writes: 0 }
  const send: unknown = Reflect.get(client, 'send')
  if (typeof send !== 'function') throw new Error('not a client')
  const countedSend = async (command: { readonly input: object }, ...rest: readonly unknown[]): Promise<unknown> => {
    const run = (): Promise<unknown> => Reflect.apply(send, client, [command, ...rest])
    if (command.constructor.name === 'TransactWriteCommand') {
      const { answer, units } = await transactionUnits(client, command.input, run)
      counted.writes += units
      return answer
    }
    Object.assign(command.input, { ReturnConsumedCapacity: 'INDEXES' })
    const answer = await run()
    const { ConsumedCapacity: consumed = [] } = v.parse(Answer, answer)
    const units = [consumed].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
    const isRead = READS.has(command.constructor.name)
    counted[isRead ? 'reads' : 'writes'] += isRead ? Math.max(units, leastReads(command.input)) : units
    return answer
  }
  return {
    client: new Proxy(client, {
      get: (target, property, receiver): unknown =>
        property === 'send' ? countedSend : Reflect.get(target, property, receiver),
    }),
    /** Since it was last asked. */
    take: (): Units => {
      const taken = { ...counted }
      counted.reads = 0
      counted.writes = 0
      return taken
    },
  }
}
