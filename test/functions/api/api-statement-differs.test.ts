import { describe, expect, it } from 'vitest'
import { derivedUuid } from '../../../shared/ids.ts'
import { bookDay } from '../../../shared/journal/day-totals.ts'
import { figuresOf, newEntry } from '../../../shared/journal/entry.ts'
import { putEntry } from '../../../shared/journal/entry-store.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { API, call } from '../../support/api-event.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { sweptADayLater } from '../../support/settlement-builders.ts'
import { putRaw, type Raw, rawItem } from '../../support/tampering.ts'
import { aStatementMerchant, closeDays } from './statement-merchant.ts'

type Total = Readonly<Record<string, number>>

async function aSettledMonth() {
  const merchant = await aStatementMerchant()
  const { deps, caller } = merchant
  await aSucceededPayment(deps, caller)
  await aSucceededPayment(deps, caller, { notionalMinor: 50_000 })
  const settlement = await sweptADayLater(deps, caller)
  deps.clock.advance(3 * 86_400)
  await closeDays(deps, caller)
  const key = settlementKey(settlement.settlementId)
  const forge = async (change: (row: Raw, first: Total, others: readonly Total[]) => object) => {
    const row = await rawItem(deps, key)
    const [first = {}, ...others] = row['totals'] as readonly Total[]
    await putRaw(deps, { ...row, ...change(row, first, others) })
  }
  return { ...merchant, settlement, forge }
}

const DAYS = { from: '2026-11-20', to: '2026-11-21' }

function raised(sides: Total, by: number): Total {
  const { grossMinor = 0, netMinor = 0, providerMinor = 0 } = sides
  return {
    ...sides,
    grossMinor: grossMinor + by,
    netMinor: netMinor + by,
    providerMinor: providerMinor + by,
  }
}

describe('GET /v1/statement when its two sources differ', () => {
  it.each<[string, Parameters<Awaited<ReturnType<typeof aSettledMonth>>['forge']>[0]]>([
    ['a total alone', (_, first, others) => ({ totals: [raised(first, 1), ...others] })],
    [
      'a total and the sums of its settlement',
      (row, first, others) => ({
        totals: [raised(first, 1), ...others],
        gross_minor: Number(row['gross_minor']) + 1,
        net_minor: Number(row['net_minor']) + 1,
      }),
    ],
  ])('answers 500 with a finding and one alert when %s is forged', async (_, change) => {
    const { deps, caller, ask, forge } = await aSettledMonth()
    await forge(change)

    const answers = [await ask(DAYS), await ask({ ...DAYS, limit: '5' })]

    for (const { status, body } of answers)
      expect([status, body['code']]).toStrictEqual([500, 'internal_error'])
    const subject = `${caller.clientId}#${bookDay(deps.now())}#statement_differs`
    expect(deps.published).toStrictEqual([
      {
        kind: 'suspense.finding',
        subject,
        message: expect.stringContaining(`audit-ledger --client_id ${caller.clientId}`),
      },
    ])
    expect(await rawItem(deps, { pk: `SUSPENSE#${subject}`, sk: 'SUSPENSE' })).toMatchObject({
      kind: 'finding',
      status: 'open',
      client_id: caller.clientId,
    })
  })

  it('answers 500 on the page that passes the last final day', async () => {
    const { deps, ask, forge, statement } = await aSettledMonth()
    const { next } = await statement({ ...DAYS, limit: '1' })
    await forge((row, first, others) => ({
      totals: [raised(first, 1), ...others],
      gross_minor: Number(row['gross_minor']) + 1,
      net_minor: Number(row['net_minor']) + 1,
    }))
    const forged = await ask({ ...DAYS, limit: '1' })
    const after = Object(JSON.parse(forged.text)).next

    expect((await ask({ ...DAYS, limit: '1', after: next ?? '' })).status).toBe(200)
    expect((await ask({ ...DAYS, limit: '1', after })).status).toBe(500)
    expect(deps.published).toHaveLength(1)
  })

  it('answers 500 when an entry of a final day is not in its settlement', async () => {
    const { deps, caller, ask, settlement } = await aSettledMonth()
    const at = addMs(settlement.sweptFrom, 5_000)
    const entry = newEntry({
      entryId: derivedUuid('forged', caller.clientId),
      type: 'correction',
      eligibleAt: at,
      postedAt: at,
      ...figuresOf(minor(7), ZERO, ZERO),
      otherMinor: minor(-7),
    })
    await deps.table.write(putEntry(caller.clientId, entry))

    expect((await ask(DAYS)).status).toBe(500)
    expect(deps.published).toHaveLength(1)
  })

  it.each([
    ['balance', () => ({ balanceMinor: 1 })],
    ['last final day', () => ({ checked: { day: '2031-01-01', minor: 1 } })],
    ['final day of today', ({ to }: Kept) => ({ checked: { day: to, minor: 1 } })],
    ['first day', () => ({ from: '1971-01-01', position: { day: '1971-01-01' } })],
  ])(
    'takes a cursor whose %s its caller altered for what it is: 422, and nothing is written',
    async (_, change) => {
      const { own, deps, ask, statement } = await aSettledMonth()
      const { next } = await statement({ ...DAYS, limit: '1' })
      const kept = JSON.parse(Buffer.from(next ?? '', 'base64url').toString())
      const altered = { ...kept, ...change(kept) }
      const after = Buffer.from(JSON.stringify(altered)).toString('base64url')
      own.changes.length = 0

      const { status } = await ask({ limit: '100', after })

      expect(status).toBe(422)
      expect(deps.published).toStrictEqual([])
      expect(own.changes.map(({ key }) => key.pk.split('#')[0])).not.toContain('SUSPENSE')
    },
  )

  it('keeps the finding when the alert fails, and tells later', async () => {
    const { deps, caller, forge } = await aSettledMonth()
    await forge((_, first, others) => ({ totals: [raised(first, 1), ...others] }))
    const silent = { ...deps, alerts: { publish: () => Promise.reject(new Error('no topic')) } }

    const { status } = await call(silent, API.getStatement, { caller, query: DAYS })

    const pk = `SUSPENSE#${caller.clientId}#${bookDay(deps.now())}#statement_differs`
    expect(status).toBe(500)
    expect(await rawItem(deps, { pk, sk: 'SUSPENSE' })).toMatchObject({ work: 'alert' })
  })
})

type Kept = { readonly to: string }
