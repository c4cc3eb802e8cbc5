import type { StageSettings } from '../../../shared/stage-settings.ts'
import { MINUTE_MS } from '../../../shared/time.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { measureFlows, PUSH_LIMIT, startMerchant } from '../measure-flows.ts'
import { type Detail, unitsIn } from '../meter-table.ts'
import { livesTable, type MeasuredLives } from './measure-lives.ts'

export type FlowUnits = { readonly flow: string; readonly detail: Detail }

/**
 * A warm environment remembers an API key for fifteen seconds. Each measured request is the first
 * request after them.
 */
const FORGOTTEN_MS = 16_000
const PAGE = 25

const customer = { name: 'Sri Wahyuni', email: 'sri@example.com', phone: '+6281234567890' }
const ORDER = {
  amount: 150_000,
  currency: 'IDR',
  external_reference: 'order-2026-000001',
  customer,
}
const BANK = { method: 'virtual_account', channel_code: 'BCA' }
const BRIEF = { ...BANK, expires_in_seconds: 600 }

const OVO = { method: 'ewallet', channel_code: 'OVO' }

type Channel = {
  readonly method: string
  readonly channel_code?: string
  readonly expires_in_seconds?: number
}

/** A channel of each way to pay: at a bank, by a code, in a wallet, and on a phone. */
const UNPAID: readonly (readonly [string, Channel])[] = [
  ['virtual account', BANK],
  ['QRIS', { method: 'qris' }],
  ['wallet', { method: 'ewallet', channel_code: 'DANA' }],
  ['push', OVO],
]

export type MeasuredUnits = Awaited<ReturnType<typeof measureUnits>>

export async function measureUnits() {
  // The flows of which the costs are made.
  const costly = await measureFlows()
  const { paid, abandoned } = costly
  const flows: FlowUnits[] = paid.flows.map(({ name: flow, detail }) => ({ flow, detail }))
  flows.push({ flow: 'delivery, abandoned after eight attempts', detail: abandoned.detail })
  flows.push(...(await requests(await startMeasuring())))
  flows.push(...(await webhooks(await startMeasuring())))
  for (const [name, channel] of UNPAID) flows.push(...(await unpaid(name, channel)))
  flows.push(...(await unpaid('push, with the push limit', OVO, PUSH_LIMIT)))
  return { flows, costly }
}

type Started = Awaited<ReturnType<typeof startMeasuring>>

async function requests(means: Started) {
  const { used, ask, create, passTime } = means
  const flows: FlowUnits[] = []
  const measured = async <Answer>(flow: string, step: () => Promise<Answer>) => {
    await passTime(FORGOTTEN_MS)
    flows.push(await used(flow, step))
  }
  const id = await create(BRIEF, 'order-1')
  for (let number = 2; number <= PAGE; number++) await create(BRIEF, `order-${number}`)
  await measured('create, repeated', () => create(BRIEF, 'order-1', 200))
  await measured('get', () => ask('api-get-payment', { id }))
  await measured('list of 25', () => ask('api-list-payments', {}))
  await measured('list of 25 by status', () =>
    ask('api-list-payments', { query: { status: 'pending' } }),
  )
  const ofOrder = { external_reference: ORDER.external_reference }
  await measured('list of 25 by reference', () => ask('api-list-payments', { query: ofOrder }))
  await measured('balance', () => ask('api-get-balance', {}))
  await measured('statement of a month', () => ask('api-get-statement', {}))
  await measured('cancel', () => ask('api-cancel-payment', { id }))
  await create(BRIEF, `order-${PAGE + 1}`)
  await expireAll(means)
  await measured('events, 25 of them', () => ask('api-list-events', {}))
  return flows
}

async function startMeasuring() {
  const merchant = await startMerchant()
  const used = async (flow: string, step: () => Promise<unknown>): Promise<FlowUnits> => {
    const { detail } = await merchant.measure('api-get-payment', flow, step)
    return { flow, detail }
  }
  const create = (channel: Channel, key: string, status = 201) =>
    merchant.create(key, JSON.stringify({ ...ORDER, ...channel }), status)
  return { ...merchant, used, create }
}

/** Unpaid payments expire after ten minutes, and their events and webhooks are sent. */
async function expireAll({ run, passTime, drainQueues }: Started) {
  await passTime(11 * MINUTE_MS)
  await run('check-due-work', {})
  await drainQueues()
}

async function webhooks(means: Started) {
  const { used, ask, create, passTime } = means
  for (let number = 1; number <= PAGE; number++)
    await create({ method: 'qris', expires_in_seconds: 600 }, `order-${number}`)
  await expireAll(means)
  const { data } = await ask('api-list-webhook-deliveries', {})
  const [first, ...others] = data as readonly { readonly id: string }[]
  if (others.length !== PAGE - 1) throw new Error(`${others.length} webhooks were delivered`)
  await passTime(FORGOTTEN_MS)
  const listed = await used('list of 25 deliveries', () => ask('api-list-webhook-deliveries', {}))
  await passTime(FORGOTTEN_MS)
  const again = () => ask('api-redeliver-webhook', { id: first?.id ?? '' })
  return [listed, await used('redelivery, by its merchant', again)]
}

async function unpaid(name: string, channel: Channel, pushLimit?: StageSettings['pushLimit']) {
  const { world, used, create, ask, drainQueues, run, passTime } = await startMeasuring()
  world.pushLimit = pushLimit
  let id = ''
  const made = await used(`unpaid ${name}: created`, async () => {
    id = await create(channel, 'order-1')
  })
  const ended = await used(`unpaid ${name}: expired, announced`, async () => {
    const item = () => world.table.item({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' })
    for (let minutes = 0; item()?.['status'] === 'pending'; minutes++) {
      // No payment of any channel waits longer than three days.
      if (minutes > 3 * 24 * 60) throw new Error(`a ${name} that is not paid never ends`)
      await passTime(MINUTE_MS)
      // Workers do not read a payment before it is due: these minutes cost what an idle minute
      // costs.
      if (String(item()?.['due_at']) > new Date(world.scheduler.nowMs()).toISOString()) continue
      await run('check-due-work', {})
      await drainQueues()
    }
    await drainQueues()
  })
  await ask('api-get-payment', { id }, 200, { status: 'expired' })
  // The gateway looks for due work each minute, with or without payments. Those reads of the index
  // are left out.
  const { 'reads by-due': _, 'calls query': __, ...detail } = ended.detail
  return [made, { ...ended, detail }]
}

export function sumOf(flows: readonly FlowUnits[], sort: string) {
  return flows.reduce((all, { detail }) => all + unitsIn(detail, sort), 0)
}

/** The steps of a payment, in the table's order. Other reads of it are not counted. */
export const PAID = [
  'created',
  'paid, credited, announced',
  'delivered',
  'looked at by the sync',
  'fee made final',
  'settled',
]

/**
 * Each payment from its create to its end; a paid payment by its channel, fields and pace; and each
 * flow. `detailed`: also the flows of unpaid payments, and what each flow uses by item and index.
 */
export function unitsReport(flows: readonly FlowUnits[], paid: MeasuredLives, detailed = false) {
  const [payments, ...others] = unitTables(flows, detailed)
  return [payments, livesTable(paid), ...others].join('\n\n')
}

export function unitTables(flows: readonly FlowUnits[], detailed = false) {
  const lives = Map.groupBy(flows, ({ flow }) => {
    const [ofUnpaid] = /^unpaid [^:]+/.exec(flow) ?? []
    return PAID.includes(flow)
      ? 'paid, from create to settled'
      : ofUnpaid && `${ofUnpaid}, to its webhook`
  })
  const whole = [...lives].flatMap(([life, some]) => {
    const sums = ['writes', 'reads', 'provider'].map((sort) => rounded(sumOf(some, sort)))
    return life === undefined ? [] : [[life, ...sums]]
  })
  const [units, provider] = [['Write units', 'Read units'], 'Calls of the provider']
  const details = detailed ? ['Written', 'Read', 'Calls of the table'] : []
  const shown = flows.filter(({ flow }) => detailed || !flow.startsWith('unpaid '))
  return [
    markdownTable(['A payment', ...units, provider], whole),
    markdownTable(
      ['Flow', ...units, ...details, provider],
      shown.map((flow) => cells(flow, detailed)),
    ),
  ]
}

function rounded(value: number) {
  return String(Math.round(value * 100) / 100)
}

function cells(flow: FlowUnits, detailed: boolean) {
  return [
    flow.flow,
    ...['writes', 'reads'].map((sort) => rounded(unitsIn(flow.detail, sort))),
    ...(detailed ? ['writes', 'reads', 'calls'].map((sort) => parts(flow, sort)) : []),
    [parts(flow, 'provider'), parts(flow, 'rows').replace(/^(?=.)/, 'rows: ')]
      .filter((text) => text !== '')
      .join('; '),
  ]
}

/** `PAYMENT 2, PAYMENT/by-due 1`: the counts of one sort, in alphabetical order. */
function parts({ detail }: FlowUnits, sort: string) {
  return Object.entries(detail)
    .filter(([name, units]) => name.startsWith(`${sort} `) && rounded(units) !== '0')
    .map(([name, units]) => `${name.slice(sort.length + 1)} ${rounded(units)}`)
    .toSorted()
    .join(', ')
}
