import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { withWritten } from '../../written-part.ts'
import { unitsIn } from '../meter-table.ts'
import { type FlowUnits, measureUnits } from './measure-units.ts'
import { PAID, unitsReport } from './units-report.ts'

let flows: readonly FlowUnits[]

beforeAll(async () => {
  flows = await measureUnits()
})

const unpaid = (channel: string) => flows.filter(({ flow }) => flow.startsWith(`unpaid ${channel}:`))
const sum = (some: readonly FlowUnits[], sort: string) =>
  some.reduce((all, { detail }) => all + unitsIn(detail, sort), 0)

it('docs/performance.md says what every flow uses; otherwise: npm run bench -- units --write', () => {
  const document = readFileSync(join(PROJECT_ROOT, 'docs/performance.md'), 'utf8')

  expect(withWritten(document, 'bench', unitsReport(flows), 'units')).toBe(document)
})

describe('a payment that is paid (design section 9)', () => {
  it('takes at most 45 write units and 11 read units from its create to its settlement, with a reference', () => {
    const paid = flows.filter(({ flow }) => PAID.includes(flow))

    expect(paid).toHaveLength(PAID.length)
    expect(sum(paid, 'writes')).toBeLessThanOrEqual(45)
    expect(sum(paid, 'reads')).toBeLessThanOrEqual(11)
  })
})

describe('a payment that nobody pays (design section 9)', () => {
  it.each([
    ['virtual account', 42],
    ['QRIS', 42],
    ['wallet', 42],
    ['push', 38],
  ])(
    'on a %s takes at most %d write units, with a reference, and 3 calls of the provider after its create',
    (channel, most) => {
      const [created, ended] = unpaid(channel)

      expect(sum(unpaid(channel), 'writes')).toBeLessThanOrEqual(most)
      expect(created && unitsIn(created.detail, 'provider')).toBe(1)
      expect(ended && unitsIn(ended.detail, 'provider')).toBeLessThanOrEqual(3)
    },
  )
})
