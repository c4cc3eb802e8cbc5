import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { withWritten } from '../../written-part.ts'
import { unitsIn } from '../meter-table.ts'
import { type FlowUnits, measureUnits } from './measure-units.ts'
import { PAID, unitsReport, unitsTable } from './units-report.ts'

let flows: readonly FlowUnits[]

beforeAll(async () => {
  flows = await measureUnits()
})

const unpaid = (channel: string) => flows.filter(({ flow }) => flow.startsWith(`unpaid ${channel}:`))
/** Every payment that is measured has an `external_reference`, by which it is found. */
const OF_REFERENCE = 2
const sum = (some: readonly FlowUnits[], sort: string) =>
  some.reduce((all, { detail }) => all + unitsIn(detail, sort), 0)

describe('what every flow uses', () => {
  /** Write units, read units, calls of the table, calls of the provider. `npm test -- test/bench/units -u` writes it. */
  it('is this, and one more is seen in review', () => {
    expect(`\n${unitsTable(flows)}\n`).toMatchInlineSnapshot(`
      "
      created                                          14      2      3      1
      paid, credited                                   18      2      3      1
      announced                                         5      1      3      0
      delivered                                         3    2.5      4      0
      fetched once                                      0      3      2      0
      looked at by the sync                          0.17    1.5   0.11   0.05
      fee made final                                 5.53   1.02   0.61   0.12
      settled                                        0.05   0.07   0.05      0
      delivery, abandoned after eight attempts         87     34     37      0
      create, repeated                                  1      2      2      0
      get                                               0      3      2      0
      list of 25                                        0   16.5      4      0
      list of 25 by status                              0   16.5      4      0
      list of 25 by reference                           0     29      4      0
      balance                                           0      3      2      0
      cancel                                           13      3      4      1
      events, 25 of them                                0     29      4      0
      list of 25 deliveries                             0     29      4      0
      redelivery, by its merchant                      10      4      4      0
      unpaid virtual account: created                  14      2      3      1
      unpaid virtual account: expired, announced       29    6.5     13      2
      unpaid QRIS: created                             14      2      3      1
      unpaid QRIS: expired, announced                  31    6.5     12      2
      unpaid wallet: created                           14      2      3      1
      unpaid wallet: expired, announced                32    9.5     17      3
      unpaid push: created                             12      2      3      1
      unpaid push: expired, announced                  28    6.5     12      2
      "
    `)
  })

  it('is what docs/performance.md says', () => {
    const document = readFileSync(join(PROJECT_ROOT, 'docs/performance.md'), 'utf8')

    expect(withWritten(document, 'bench', unitsReport(flows), 'units')).toBe(document)
  })
})

describe('a payment that is paid (design section 9)', () => {
  it('takes at most 44 write units, 2 more for its reference, and 12 read units from its create to its settlement', () => {
    const paid = flows.filter(({ flow }) => PAID.includes(flow))

    expect(paid).toHaveLength(PAID.length)
    expect(sum(paid, 'writes')).toBeLessThanOrEqual(44 + OF_REFERENCE)
    expect(sum(paid, 'reads')).toBeLessThanOrEqual(12)
  })
})

describe('a payment that nobody pays (design section 9)', () => {
  it.each(['virtual account', 'QRIS', 'wallet', 'push'])(
    'on a %s takes at most 45 write units, and 2 for its reference',
    (channel) => {
      expect(sum(unpaid(channel), 'writes')).toBeLessThanOrEqual(45 + OF_REFERENCE)
    },
  )

  it.each(['virtual account', 'QRIS', 'wallet', 'push'])('on a %s asks the provider at most 3 times', (channel) => {
    const [created, ended] = unpaid(channel)

    expect(created && unitsIn(created.detail, 'provider')).toBe(1)
    expect(ended && unitsIn(ended.detail, 'provider')).toBeLessThanOrEqual(3)
  })
})
