import { beforeAll, describe, expect, it } from 'vitest'
import { withWritten } from '../../../infra/local/terminal/with-written.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { projectText } from '../../support/source-file.ts'
import { billedStages } from '../billed-stages.ts'
import { sumOf as costOf } from '../cost-lines.ts'
import { costReport, paidCosts, paymentCosts } from '../costs.ts'
import { idleCosts, metricsOf } from '../idle-costs.ts'
import { measureSettle, startMerchant, walkPayment } from '../measure-flows.ts'
import { unitsIn } from '../meter-table.ts'
import { everyMetric, metricsByChannel } from '../own-metrics.ts'
import {
  AUDIT_READS_A_MONTH,
  KEY_UNITS,
  PAYMENT_UNITS,
  PAYOUT_READS,
} from '../walls/payment-use.ts'
import {
  type FlowUnits,
  type MeasuredUnits,
  measureUnits,
  PAID,
  sumOf,
  unitTables,
} from './measure-units.ts'

const stages = billedStages()

let measured: MeasuredUnits
let flows: readonly FlowUnits[]

beforeAll(async () => {
  measured = await measureUnits()
  flows = measured.flows
})

it('docs/performance.md has the units of every flow; otherwise: npm run bench -- units --write', () => {
  for (const table of unitTables(flows)) expect(projectText('docs/performance.md')).toContain(table)
})

it('docs/operations.md has the costs that `npm run bench -- --write` writes', () => {
  const document = projectText('docs/operations.md')

  expect(withWritten(document, 'bench', costReport(stages, measured.costly))).toBe(document)
})

it.each([
  ['prod', 130],
  ['dev', 15],
] as const)('a new stage %s without traffic costs at most $%i a month', (name, most) => {
  expect(costOf(idleCosts(stages[name], measured.costly))).toBeLessThanOrEqual(most)
})

it('a million payments cost at most $50 if paid, with audits, and $40 if unpaid, at the prices of us-east-1', () => {
  expect(costOf(paidCosts(measured.costly.paid))).toBeLessThanOrEqual(50)
  expect(costOf(paymentCosts(measured.costly.unpaid))).toBeLessThanOrEqual(40)
})

it('the catalogue of metrics has every metric of the measured flows, and the metrics of failures', () => {
  const every = everyMetric()
  const { paid, abandoned, idleRuns } = measured.costly
  const used = [...paid.flows, abandoned, ...idleRuns]

  expect([...metricsOf(used).difference(every)]).toStrictEqual([])
  expect(every).toContain('Payments gateway-prod virtual_account BCA expired')
  expect(every).toContain('SuspenseItems gateway-prod money wrong_amount')
  expect(every).toContain('FailedMessages gateway-prod gateway-prod-deliver-webhook')
  expect(metricsByChannel()).toBe(8)
})

describe('a payment (design section 9)', () => {
  it('that is paid takes at most 45 write units and 11 read units from its create to its settlement', () => {
    const paid = flows.filter(({ flow }) => PAID.includes(flow))

    expect(paid).toHaveLength(PAID.length)
    expect(sumOf(paid, 'writes')).toBeLessThanOrEqual(45)
    expect(sumOf(paid, 'reads')).toBeLessThanOrEqual(11)
    const used = paid.flatMap(({ detail }) => Object.keys(detail))
    expect(used.filter((name) => /^writes (AUDIT|NOTED|SUSPENSE)/.test(name))).toStrictEqual([])
  })

  it.each([
    ['virtual account', 42],
    ['QRIS', 42],
    ['wallet', 42],
    ['push', 38],
    ['push, with the push limit', 38],
  ])(
    'that is not paid, on a %s, takes %d write units and 3 calls of the provider after its create',
    (channel, most) => {
      const unpaid = flows.filter(({ flow }) => flow.startsWith(`unpaid ${channel}:`))
      const [created = 0, ended = 0] = unpaid.map(({ detail }) => unitsIn(detail, 'provider'))

      expect(sumOf(unpaid, 'writes')).toBeLessThanOrEqual(most)
      expect([unpaid.length, created, Math.max(ended, 3)]).toStrictEqual([2, 1, 3])
    },
  )
})

describe('the units of a payment that the bench of walls uses', () => {
  const { writes, reads, delivery } = PAYMENT_UNITS
  const TABLE = /^writes [A-Z]+$/

  /** Units of these names in the life, paid or unpaid, that takes the most of such units. */
  const most = (names: RegExp) => {
    const lives = new Map<string, number>()
    for (const { flow, detail } of flows) {
      const life = [...PAID, 'fetched once'].includes(flow)
        ? 'paid'
        : /^unpaid [^:]+/.exec(flow)?.[0]
      const used = Object.entries(detail).reduce(
        (all, [name, units]) => all + (names.test(name) ? units : 0),
        0,
      )
      if (life !== undefined) lives.set(life, (lives.get(life) ?? 0) + used)
    }
    return Math.max(...lives.values())
  }

  it.each<[what: string, counted: number, names: RegExp]>([
    ['writes of the table', writes.table, TABLE],
    ['writes of by-owner', writes['by-owner'], /^writes .*\/by-owner$/],
    ['writes of by-status', writes['by-status'], /^writes .*\/by-status$/],
    ['writes of by-open', writes['by-open'], /^writes .*\/by-open$/],
    ['writes of by-due', writes['by-due'], /^writes .*\/by-due$/],
    ['reads of the table', reads, /^reads [A-Z]+$/],
    ['writes of the table for a delivery', delivery.writes.table, /^writes DELIVERY$/],
    [
      'writes of by-owner for a delivery',
      delivery.writes['by-owner'],
      /^writes DELIVERY\/by-owner$/,
    ],
    ['writes of by-due for a delivery', delivery.writes['by-due'], /^writes DELIVERY\/by-due$/],
    ['reads for a delivery', delivery.reads, /^reads (DELIVERY|ENDPOINT|EVENT)$/],
    ['due work of payments', KEY_UNITS.duePayments, /^writes PAYMENT\/by-due$/],
    ['due work of deliveries', KEY_UNITS.dueDeliveries, /^writes DELIVERY\/by-due$/],
    ['due work of the sync', KEY_UNITS.dueSync, /^writes SYNC\/by-due$/],
  ])('is what is measured, rounded up: %s', (_, counted, names) => {
    const used = most(names)

    expect(counted).toBeGreaterThanOrEqual(used)
    expect(counted).toBeLessThanOrEqual(used * 1.1)
  })

  it.each([
    [
      'of the audits in the table of growth',
      AUDIT_READS_A_MONTH,
      /audits of the thirty days after that \|.*\| ([\d,]+) read, \d+ written \|$/m,
      30_100,
    ],
    [
      'before a payout, by its payout',
      PAYOUT_READS,
      /^\| mark paid \|.*?\| ([\d,]+) read, \d+ written \| [\d,.]+ read/m,
      10_000,
    ],
    [
      'before a payout, by its own audit',
      PAYOUT_READS,
      /^\| audit of a long settlement.*\| ([\d,]+) read, \d+ written \|$/m,
      30_000,
    ],
  ])('are those %s', (_, counted, row, payments) => {
    const [, read = ''] = row.exec(projectText('docs/performance.md')) ?? []
    const ofOne = Number(read.replaceAll(',', '')) / payments

    expect(counted).toBeGreaterThanOrEqual(ofOne)
    expect(counted).toBeLessThanOrEqual(ofOne * 1.1)
  })

  it('writes its client’s shard in three transactions, and many payments may share the last transaction', () => {
    const used = most(/^writes SHARD$/)

    expect(KEY_UNITS.ledgerOfClient).toBeGreaterThanOrEqual(used)
    expect(KEY_UNITS.ledgerOfClient).toBeLessThanOrEqual(used + 2)
  })
})

/**
 * Goal: the payments a second of one client that the table takes. DynamoDB takes a thousand write
 * units a second in one partition (design section 9). Method: payments of one merchant with one
 * endpoint, from their create to their settlement, on the real handlers; the meter adds up what
 * each partition of table and indexes took.
 */

/** Write units that the fullest partition takes for one payment of a client. */
async function maxUnits(payments: number) {
  const walked = await startMerchant()
  const { run, passTime, writtenIn } = walked
  const before = new Map(writtenIn)
  for (let number = 0; number < payments; number++) await walkPayment(walked, `payment-${number}`)
  // Bank channels report their final fee a business day later.
  await passTime(4 * DAY_MS)
  await run('sync-provider-transactions', {})
  await measureSettle(walked)
  const added = [...writtenIn].map(([partition, units]) => units - (before.get(partition) ?? 0))
  return Math.max(...added) / payments
}

it('the table takes 160 payments a second of one client at least', async () => {
  expect(1_000 / (await maxUnits(50))).toBeGreaterThanOrEqual(160)
})
