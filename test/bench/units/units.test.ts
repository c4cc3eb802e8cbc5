import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { KEY_UNITS, PAYMENT_UNITS } from '../../../infra/stack/capacity/payment-use.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { withWritten } from '../../written-part.ts'
import { unitsIn } from '../meter-table.ts'
import { type FlowUnits, measureUnits, PAID, unitsReport } from './measure-units.ts'

let flows: readonly FlowUnits[]

beforeAll(async () => {
  flows = await measureUnits()
})

const sum = (some: readonly FlowUnits[], sort: string) =>
  some.reduce((all, { detail }) => all + unitsIn(detail, sort), 0)

it('docs/performance.md says what every flow uses; otherwise: npm run bench -- units --write', () => {
  const document = readFileSync(join(PROJECT_ROOT, 'docs/performance.md'), 'utf8')

  expect(withWritten(document, 'bench', unitsReport(flows), 'units')).toBe(document)
})

describe('a payment (design section 9)', () => {
  it('that is paid takes at most 45 write units and 11 read units from its create to its settlement', () => {
    const paid = flows.filter(({ flow }) => PAID.includes(flow))

    expect(paid).toHaveLength(PAID.length)
    expect(sum(paid, 'writes')).toBeLessThanOrEqual(45)
    expect(sum(paid, 'reads')).toBeLessThanOrEqual(11)
  })

  it.each([
    ['virtual account', 42],
    ['QRIS', 42],
    ['wallet', 42],
    ['push', 38],
  ])(
    'that is not paid, on a %s, takes %d write units and 3 calls of the provider after its create',
    (channel, most) => {
      const unpaid = flows.filter(({ flow }) => flow.startsWith(`unpaid ${channel}:`))
      const [created = 0, ended = 0] = unpaid.map(({ detail }) => unitsIn(detail, 'provider'))

      expect(sum(unpaid, 'writes')).toBeLessThanOrEqual(most)
      expect([unpaid.length, created, Math.max(ended, 3)]).toStrictEqual([2, 1, 3])
    },
  )
})

describe('what synth counts a payment with', () => {
  const { writes, reads, created, delivery } = PAYMENT_UNITS
  const TABLE = /^writes [A-Z]+$/
  const EVERY = /./

  /** Units of these names in the life that takes the most of them, paid or not. */
  const most = (names: RegExp, ofFlow = EVERY): number => {
    const lives = Map.groupBy(
      flows.filter(({ flow }) => ofFlow.test(flow)),
      ({ flow }) => ([...PAID, 'fetched once'].includes(flow) ? 'paid' : /^unpaid [^:]+/.exec(flow)?.[0]),
    )
    lives.delete(undefined)
    return Math.max(
      ...[...lives.values()].map((life) =>
        life
          .flatMap(({ detail }) => Object.entries(detail))
          .reduce((all, [name, units]) => all + (names.test(name) ? units : 0), 0),
      ),
    )
  }

  it.each<[what: string, counted: number, names: RegExp, ofFlow: RegExp]>([
    ['writes of the table', writes.table, TABLE, EVERY],
    ['writes of by-owner', writes['by-owner'], /^writes .*\/by-owner$/, EVERY],
    ['writes of by-status', writes['by-status'], /^writes .*\/by-status$/, EVERY],
    ['writes of by-open', writes['by-open'], /^writes .*\/by-open$/, EVERY],
    ['writes of by-due', writes['by-due'], /^writes .*\/by-due$/, EVERY],
    ['reads of the table', reads, /^reads [A-Z]+$/, EVERY],
    ['writes of the table by a create', created.writes, TABLE, /created$/],
    ['reads by a create', created.reads, /^reads /, /created$/],
    ['writes of the table for a delivery', delivery.writes.table, /^writes DELIVERY$/, EVERY],
    ['writes of by-owner for a delivery', delivery.writes['by-owner'], /^writes DELIVERY\/by-owner$/, EVERY],
    ['writes of by-due for a delivery', delivery.writes['by-due'], /^writes DELIVERY\/by-due$/, EVERY],
    ['reads for a delivery', delivery.reads, /^reads (DELIVERY|ENDPOINT|EVENT)$/, EVERY],
    ['due work of payments', KEY_UNITS.duePayments, /^writes PAYMENT\/by-due$/, EVERY],
    ['due work of deliveries', KEY_UNITS.dueDeliveries, /^writes DELIVERY\/by-due$/, EVERY],
    ['due work of the sync', KEY_UNITS.dueSync, /^writes SYNC\/by-due$/, EVERY],
  ])('is what is measured, rounded up: %s', (_, counted, names, ofFlow) => {
    const used = most(names, ofFlow)

    expect(counted).toBeGreaterThanOrEqual(used)
    expect(counted).toBeLessThanOrEqual(used * 1.1)
  })

  it('is three transactions with a shard of its client, of which many payments may share the last', () => {
    const used = most(/^writes SHARD$/)

    expect(KEY_UNITS.ledgerOfClient).toBeGreaterThanOrEqual(used)
    expect(KEY_UNITS.ledgerOfClient).toBeLessThanOrEqual(used + 2)
  })
})
