/**
 * Goal: the payments a second of one client that the table takes. DynamoDB takes a thousand write units a second in one
 * partition (design section 9). Method: payments of one merchant with one endpoint, from their
 * create to their settlement, on the real handlers; the meter adds up what each partition of table and indexes took.
 */
import { describe, expect, it } from 'vitest'
import { drive } from '../../simulation/world/drive.ts'
import { operate } from '../../simulation/world/lambda.ts'
import { sqsEvent } from '../../simulation/world/sim-queue.ts'
import { startMerchant, walkPayment } from '../walk-payment.ts'

/** What one partition takes. */
const PARTITION_UNITS = 1_000
const DAY_MS = 86_400_000

/** Write units of each partition, for one payment of a client with so many parts, the most first. */
const unitsByPartition = async (
  parts: number,
  payments: number,
): Promise<readonly (readonly [partition: string, units: number])[]> => {
  const walked = await startMerchant()
  const { world, run, pass, writtenIn, merchant } = walked
  const client = { operator: 'bench', client_id: merchant.clientId, ledger_parts: parts }
  const grown = await drive(world, operate(world, 'update-client', client))
  expect(grown).toMatchObject({ status: 200, body: { ledger_parts: parts } })
  await pass(61_000)
  const before = new Map(writtenIn)
  for (let number = 0; number < payments; number++) await walkPayment(walked, `payment-${number}`)
  // Bank channels report their final fee a business day later.
  await pass(4 * DAY_MS)
  await run('sync-provider-transactions', {})
  await run('settle-client', sqsEvent([{ messageId: 'm', body: JSON.stringify({ client_id: merchant.clientId }) }]))
  return [...writtenIn]
    .map(([partition, units]) => [partition, (units - (before.get(partition) ?? 0)) / payments] as const)
    .toSorted((a, b) => b[1] - a[1])
}

const most = (units: Awaited<ReturnType<typeof unitsByPartition>>): number => units[0]?.[1] ?? 0

describe('payments a second of one client (design section 9)', () => {
  it.each([
    [1, 160, 50],
    // So many that the parts have about as many each.
    [4, 500, 200],
  ])(
    'with %i parts the table takes %i at least, whatever partition is the fullest',
    async (parts, atLeast, payments) => {
      const units = await unitsByPartition(parts, payments)

      expect(PARTITION_UNITS / most(units)).toBeGreaterThanOrEqual(atLeast)
    },
  )
})
