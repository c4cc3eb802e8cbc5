import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/time.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { measurePaidBurst, measureSettle, startMerchant, walkPayment } from '../measure-flows.ts'
import type { Units } from '../meter-table.ts'
import type { Flow } from '../metered-world.ts'

/** Units of one paid payment from its create to its settlement, without the merchant's fetch. */
type LifeUnits = Units & {
  readonly channel: string
  readonly fields: 'none' | 'of a shop'
  readonly pace: string
}

/** Payments of a burst. They share the runs of the sync and a settlement. */
const BURST = 100

const PACES = [
  ['one a minute', MINUTE_MS, 60],
  ['one an hour', HOUR_MS, 24],
] as const

export async function measureLives() {
  const lives: LifeUnits[] = []
  for (const channel of ['BCA', 'QRIS', 'DANA', 'OVO'] as const) {
    for (const fields of ['none', 'of a shop'] as const) {
      const { flows } = await measurePaidBurst(bodyOf(channel, fields), BURST)
      lives.push({ channel, fields, pace: 'in a burst', ...lifeOf(flows) })
    }
  }
  const [channel, fields] = ['QRIS', 'of a shop'] as const
  const idle = await measureIdleSync()
  for (const [pace, everyMs, count] of PACES) {
    const use = await measurePace(bodyOf(channel, fields), { everyMs, count, idle })
    lives.push({ channel, fields, pace, ...use })
  }
  return { lives, idle }
}

const CHANNELS = {
  BCA: { method: 'virtual_account', channel_code: 'BCA' },
  QRIS: { method: 'qris' },
  DANA: { method: 'ewallet', channel_code: 'DANA' },
  OVO: { method: 'ewallet', channel_code: 'OVO' },
} as const

const phone = '+6281234567890'

/** What a shop adds to a payment: 377 bytes of JSON. */
const SHOP_FIELDS = {
  external_reference: 'order-2026-000001',
  description: 'Two coffees and a slice of cake, table 12, Depok',
  customer: { name: 'Sri Wahyuni Rahmawati', email: 'sri.wahyuni@example.com', phone },
  metadata: {
    cart_id: '018f6e2c-1c1e-7c3a-9b1c-5a1f2a7b9d10',
    branch: 'Jakarta Selatan',
    cashier: 'Budi',
    note: 'gift wrap, deliver before noon, ring the bell twice',
  },
}

function bodyOf(channel: keyof typeof CHANNELS, fields: LifeUnits['fields']) {
  // A push needs a phone.
  const needed = channel === 'OVO' ? { customer: { phone } } : {}
  const own = fields === 'none' ? needed : SHOP_FIELDS
  return JSON.stringify({ ...CHANNELS[channel], amount: 150_000, currency: 'IDR', ...own })
}

function lifeOf(flows: readonly Flow[]) {
  const life = flows.filter(({ name }) => name !== 'fetched once')
  const sumOf = (sort: keyof Units) => life.reduce((sum, flow) => sum + flow[sort], 0)
  return { writes: sumOf('writes'), reads: sumOf('reads') }
}

const SYNC_MS = 5 * MINUTE_MS

/** What one run of the sync uses without payments, on average over a day. */
async function measureIdleSync() {
  const metered = await startMerchant()
  await syncAll(metered)
  const runs = DAY_MS / SYNC_MS
  const flows: Flow[] = []
  for (let at = 0; at < runs; at++) {
    await metered.passTime(SYNC_MS)
    flows.push(await syncAll(metered))
  }
  const { writes, reads } = lifeOf(flows)
  return { writes: writes / runs, reads: reads / runs }
}

function syncAll({ measure, run, drainQueues }: Awaited<ReturnType<typeof startMerchant>>) {
  return measure('sync-provider-transactions', 'sync', async () => {
    await run('sync-provider-transactions', {})
    await drainQueues()
  })
}

/** After this time the last payment's fee is final, and the payment can be settled. */
const FINAL_MS = 3 * DAY_MS

/**
 * What one payment at this pace adds to a gateway without payments, whose runs of the sync are
 * subtracted: the bill counts them as idle.
 */
async function measurePace(
  body: string,
  {
    everyMs,
    count,
    idle,
  }: { readonly everyMs: number; readonly count: number; readonly idle: Units },
) {
  const walked = await startMerchant()
  const { passTime, world } = walked
  await syncAll(walked)
  const beganMs = world.scheduler.nowMs()
  const flows: Flow[] = []
  const runs = (everyMs * count + FINAL_MS) / SYNC_MS
  for (let at = 1, paid = 0; at <= runs; at++) {
    while (paid < count && paid * everyMs < at * SYNC_MS) {
      flows.push(...(await walkPayment(walked, `payment-${++paid}`, body)))
      if (everyMs < SYNC_MS) await passTime(everyMs)
    }
    await passTime(Math.max(0, beganMs + at * SYNC_MS - world.scheduler.nowMs()))
    flows.push(await syncAll(walked))
  }
  const all = lifeOf([...flows, await measureSettle(walked)])
  const each = (sort: keyof Units) => (all[sort] - idle[sort] * runs) / count
  return { writes: each('writes'), reads: each('reads') }
}

export type MeasuredLives = Awaited<ReturnType<typeof measureLives>>

export function livesTable({ lives, idle }: MeasuredLives) {
  const heading = ['Paid payment', 'Its own fields', 'Pace', 'Write units', 'Read units']
  const rows = lives.map(({ channel, fields, pace, writes, reads }) => [
    channel,
    fields,
    pace,
    writes.toFixed(1),
    reads.toFixed(1),
  ])
  const [writes, reads] = [idle.writes.toFixed(1), idle.reads.toFixed(1)]
  return `${markdownTable(heading, rows)}\n\nA run of the sync without news: ${writes} write and ${reads} read units.`
}
