/** Goal: no difference that an audit has found is lost before it is repaired or accepted. */
import { describe, expect } from 'vitest'
import { acceptDifference } from '../../../shared/audit/accept-difference.ts'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import type { Client } from '../../../shared/client/client.ts'
import { paymentKey, verdictKey } from '../../../shared/table/keys.ts'
import {
  putNewVerdict,
  readClientVerdict,
  recordFindings,
} from '../../../shared/verdict/client-verdict-store.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import { aDayLater, withoutFloor, withoutSleep } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { withApproval } from '../../support/with-approval.ts'
import { differenceOf, auditedTest as it } from '../payout/recorded-settlement.ts'

async function noteDifferences(
  deps: TestDeps,
  { clientId }: Client,
  part: string,
  differences: readonly Difference[],
) {
  return (await recordFindings(deps, clientId, new Map([[part, differences]]))).open
}

it('a new verdict replaces no other verdict', async ({ deps, client }) => {
  const step = putNewVerdict(client.clientId, client.createdAt)

  expect(await deps.table.write(step)).toMatchObject({ applied: false })
})

describe('the differences that audits have found', () => {
  it.for([0, 1])(
    'are all kept after two concurrent audits and %i earlier differences',
    async (earlierCount) => {
      const deps = memoryDeps()
      const client = await withoutFloor(deps)
      const noteIn = (writerDeps: TestDeps, part: string) =>
        noteDifferences(writerDeps, client, part, [{ ...differenceOf(client), id: part }])
      if (earlierCount) await noteIn(deps, 'counts')

      const overtaken = beforeFirst(deps, 'put', () => noteIn(deps, 'window'))
      await noteIn(overtaken, 'figures')

      const parts = [...(earlierCount ? ['counts'] : []), 'window', 'figures']
      expect((await readClientVerdict(deps, client.clientId)).standing).toMatchObject(
        parts.map((part) => ({ part })),
      )
    },
  )

  it('stop a payout also by a difference that follows a hundred others', async ({
    deps,
    client,
    pay,
  }) => {
    const differences = Array.from({ length: 101 }, (_, at) => ({
      ...differenceOf(client),
      id: `${at}`,
    }))
    const [extraDifference, hundredDifferences] = [differences.slice(0, 1), differences.slice(1)]
    await noteDifferences(deps, client, 'payments 1', hundredDifferences)
    await noteDifferences(deps, client, 'payments 2', extraDifference)
    expect((await readClientVerdict(deps, client.clientId)).standing).toHaveLength(100)
    const standingAfterRepair = await noteDifferences(deps, client, 'payments 1', [])

    await noteDifferences(deps, client, 'payments 2', [])
    await noteDifferences(deps, client, 'payments 1', hundredDifferences)
    const acceptance = { clientId: client.clientId, operator: OPERATOR, notes: 'x' }
    for (const difference of hundredDifferences)
      await withApproval(deps, () => acceptDifference(deps, { ...acceptance, difference }))
    const standingAfterAccept = await noteDifferences(deps, client, 'payments 2', extraDifference)

    expect([standingAfterRepair, standingAfterAccept]).toMatchObject([
      extraDifference,
      extraDifference,
    ])
    expect(await pay()).toMatchObject({ status: 422 })
  })

  it('are found again by the next audit if the verdict is forged', async ({
    deps,
    client,
    payment,
    pay,
  }) => {
    const row = await rawItem(deps, paymentKey(payment.paymentId))
    await putRaw(deps, { ...row, markup_minor: 101 })
    const forged = { ...(await rawItem(deps, verdictKey(client.clientId))), standing: [] }
    await putRaw(deps, { ...forged, figures_at: '2031-01-01T00:00:00.000Z', history_day: 99_999 })

    expect(await pay()).toMatchObject({ status: 422 })
    aDayLater(deps)
    await auditClient(withoutSleep(deps), client.clientId)

    const { standing, historyDay } = await readClientVerdict(deps, client.clientId)
    expect(standing.map(({ what }) => what)).toContain('payment.markup_minor')
    expect(historyDay).toBeLessThan(99_999)
  })

  it('of a name of a later release are told once and refuse no payout', async ({
    deps,
    client,
    payment,
    pay,
  }) => {
    const row = await rawItem(deps, paymentKey(payment.paymentId))
    await putRaw(deps, { ...row, colour: 'green' })

    for (let day = 0; day < 31; day++) {
      if (day > 0) aDayLater(deps)
      await auditClient(withoutSleep(deps), client.clientId)
    }

    const unknown = { what: 'payment.colour', id: 'payment' }
    expect((await readClientVerdict(deps, client.clientId)).standing).toMatchObject([unknown])
    expect(deps.published.filter(({ kind }) => kind === 'audit.imbalance')).toHaveLength(1)
    expect((await pay()).body).not.toMatchObject({ field_errors: expect.any(Object) })
  })
})
