import { startWallsWorld } from './walls-world.ts'

/** What one payment costs of the provider in its whole life. */
export type Use = {
  /** Calls of each operation, listing apart. */
  readonly calls: Readonly<Record<string, number>>
  /** Rows of transactions that are read of it, in all and within its first hour. */
  readonly rows: number
  readonly earlyRows: number
}

export type Kind = { readonly paid: boolean; readonly callbacks: boolean }

const NO_QUOTA = 10_000_000
const PAYMENTS = 120
const HOUR_MS = 3_600_000
/** Until the provider has settled, and the tail has read for the last time. */
const LIFE_MS = 5 * 24 * HOUR_MS
const LISTING = 'GET /transactions'

/** A payment's whole life, counted on so many that runs which serve many are shared. */
export const measureUse = async ({ paid, callbacks }: Kind): Promise<Use> => {
  const { world, create, pay, pass } = await startWallsWorld(NO_QUOTA)
  if (!callbacks) world.provider.orderFault({ target: 'callback', fault: 'lost', times: PAYMENTS })
  world.provider.resetCalls()
  for (let made = 0; made < PAYMENTS; made++) {
    const [id = ''] = await Promise.all([create(), pass(5_000)])
    if (paid) pay(id)
  }
  const rowsSoFar = () => (world.provider.callCounts()[`rows ${LISTING}`] ?? 0) / PAYMENTS
  await pass(HOUR_MS)
  const earlyRows = rowsSoFar()
  await pass(LIFE_MS)
  const unfinished = world.table
    .items('PAYMENT#')
    .filter(({ sk, status }) => sk === 'PAYMENT' && status !== (paid ? 'succeeded' : 'expired')).length
  if (unfinished > 0) throw new Error(`${unfinished} payments have not ended as they should`)
  const counts = Object.entries(world.provider.callCounts())
  const calls = counts.filter(([name]) => !name.endsWith(LISTING)).map(([name, count]) => [name, count / PAYMENTS])
  return { calls: Object.fromEntries(calls), rows: rowsSoFar(), earlyRows }
}
