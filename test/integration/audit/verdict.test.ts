/** Goal: no difference that an audit has found is lost before it is repaired or accepted. */
import { describe, expect } from 'vitest'
import { noteRestore } from '../../../infra/operate/restore/restore-store.ts'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { judgeParts } from '../../../shared/audit/judge-parts.ts'
import type { Client } from '../../../shared/client/client.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { paymentKey, verdictKey, windowKey } from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { dayNumber } from '../../../shared/time.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import {
  addDifferences,
  putNewVerdict,
  readVerdict,
  recordDifferences,
} from '../../../shared/verdict/verdict-store.ts'
import { halvedSuspense } from '../../support/money-rows.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import {
  aDayLater,
  aLoneClient,
  inSteps,
  standingOf,
  withoutFloor,
  withoutSleep,
} from '../../support/settlement-builders.ts'
import { alter } from '../../support/tampering.ts'
import {
  aConflict,
  afterFirst,
  beforeFirst,
  type TestDeps,
  writesTo,
} from '../../support/test-deps.ts'
import { accept } from '../../support/with-approval.ts'
import { differenceOf, auditedTest as it } from '../payout/recorded-settlement.ts'
import { dyingBefore } from '../sync/sync-test.ts'

async function noteDifferences(
  deps: TestDeps,
  { clientId }: Client,
  part: string,
  differences: readonly Difference[],
) {
  return (await recordDifferences(deps, clientId, new Map([[part, differences]]))).unaccepted
}

/** A payout waits for the last one alone. */
function waitedForLast(client: Client) {
  const waited = differenceOf(client)
  const others = Array.from({ length: 100 }, (_, at) => `${at}`)
  return [...others.map((id) => ({ ...waited, id, what: 'ledger.count_failed' })), waited]
}

it('a new verdict replaces no other verdict', async ({ deps, client }) => {
  const step = putNewVerdict(client.clientId, client.createdAt)

  expect(await deps.table.write(step)).toMatchObject({ applied: false })
})

describe('the differences that audits have found', () => {
  it('are added to those that stand, without one that an audit ends at the same time', async () => {
    const { deps, client } = await aLoneClient()
    const { clientId } = client
    const [ended, standing, added] = ['ended', 'standing', 'added'].map((id) => ({
      ...differenceOf(client),
      id,
    }))
    if (!ended || !standing || !added) throw new Error('there are three differences')
    await noteDifferences(deps, client, 'figures', [ended, standing])
    const raced = beforeFirst(deps, 'put', () =>
      noteDifferences(deps, client, 'figures', [standing]),
    )

    await addDifferences(raced, clientId, new Map([['figures', [added]]]))

    expect(await standingOf(deps, { clientId })).toMatchObject([standing, added])
  })

  it('are all kept after two concurrent audits and an earlier one', async () => {
    const { deps, client } = await aLoneClient()
    const noteIn = (writerDeps: TestDeps, part: string) =>
      noteDifferences(writerDeps, client, part, [{ ...differenceOf(client), id: part }])
    await noteIn(deps, 'counts')

    const overtaken = beforeFirst(deps, 'put', () => noteIn(deps, 'window'))
    await noteIn(overtaken, 'figures')

    const parts = [{ part: 'counts' }, { part: 'window' }, { part: 'figures' }]
    expect(await standingOf(deps, client)).toMatchObject(parts)
  })

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
    expect(await standingOf(deps, client)).toHaveLength(100)
    const standingAfterRepair = await noteDifferences(deps, client, 'payments 1', [])

    await noteDifferences(deps, client, 'payments 2', [])
    await noteDifferences(deps, client, 'payments 1', hundredDifferences)
    for (const difference of hundredDifferences) await accept(deps, difference, client.clientId)
    const standingAfterAccept = await noteDifferences(deps, client, 'payments 2', extraDifference)

    expect([standingAfterRepair, standingAfterAccept]).toMatchObject([
      extraDifference,
      extraDifference,
    ])
    expect(await pay()).toMatchObject({ status: 422 })
  })

  it('are kept before those of a hundred other parts that no payout waits for', async ({
    deps,
    client,
  }) => {
    await recordDifferences(
      deps,
      client.clientId,
      Map.groupBy(waitedForLast(client), ({ id }) => id),
    )

    const kept = expect.objectContaining(differenceOf(client))
    expect(await standingOf(deps, client)).toContainEqual(kept)
  })

  it('are kept before such differences by an audit that stops within a part', async ({
    deps,
    client,
  }) => {
    const judge = async () => ({ differences: waitedForLast(client), state: 1 })
    const begun = { auditId: '1', beganAt: deps.now(), day: 1, done: '', found: [] }

    const { progress } = await judgeParts([{ key: 'payments', judge }], begun, () => true)

    expect(progress?.found).toContainEqual(differenceOf(client))
  })

  it.for([auditClient, auditLedger])(
    'stand after an older audit (%o) that read the rows before they changed',
    async (audit, { deps, client }) => {
      const { clientId } = client
      const overtaken = beforeFirst(deps, 'put', async () => {
        const key = windowKey(clientId)
        await alter(deps, key, { written_off_minor: 5 })
        deps.clock.advance(1)
        await auditLedger(deps, clientId)
        figuresAt = (await readVerdict(deps, clientId)).figuresAt
      })
      let figuresAt: unknown

      await audit(overtaken, clientId)

      expect(await readVerdict(deps, clientId)).toMatchObject({
        figuresAt,
        standing: [{ what: 'window.written_off_minor' }],
      })
    },
  )

  it('are found again by the next audit if the verdict is forged', async ({
    deps,
    client,
    payment,
    pay,
  }) => {
    await alter(deps, paymentKey(payment.paymentId), { markup_minor: 101 })
    const forged = { figures_at: '2031-01-01T00:00:00.000Z', history_day: 99_999, standing: [] }
    await alter(deps, verdictKey(client.clientId), forged)

    expect(await pay()).toMatchObject({ status: 422 })
    await auditClient(deps, client.clientId)

    const { standing, historyDay } = await readVerdict(deps, client.clientId)
    expect(standing.map(({ what }) => what)).toContain('payment.markup_minor')
    expect(historyDay).toBeLessThan(99_999)
  })

  it.for([
    ['a client', false],
    ['the gateway', true],
  ])(
    'are found though the progress of %s is forged: the schedule continues no progress',
    async ([, isGateway], { deps, client }) => {
      await halvedSuspense(deps, client)
      const window = windowKey(client.clientId)
      await alter(deps, window, { written_off_minor: 5 })
      aDayLater(deps)
      const key = verdictKey(isGateway ? GATEWAY_OWNER : client.clientId)
      const beganAt = deps.now()
      const progress = { day: dayNumber(beganAt), done: '~', found: [], beganAt, auditId: 'forged' }
      await alter(deps, key, { figures_at: beganAt, progress })

      await auditGateway(deps)
      await auditClient(deps, client.clientId)

      const standing = await standingOf(deps, client)
      expect(standing.map(({ what }) => what)).toStrictEqual(
        expect.arrayContaining(['suspense.amount_minor', 'window.written_off_minor']),
      )
    },
  )

  it('of a name of a later release are told once and refuse no payout', async ({
    deps,
    client,
    payment,
    pay,
  }) => {
    await alter(deps, paymentKey(payment.paymentId), { colour: 'green' })
    const named = (call: object) => JSON.stringify(call).includes('payment.colour')
    // The repeat is refused.
    const lossy = afterFirst(deps, named, () => Promise.reject(aConflict()))

    for (let day = 0; day < 31; day++) {
      if (day > 0) aDayLater(deps)
      await auditClient(lossy, client.clientId)
    }

    const unknown = { what: 'payment.colour', id: 'payment' }
    expect(await standingOf(deps, client)).toMatchObject([unknown])
    expect(deps.published.filter(({ kind }) => kind === 'audit.imbalance')).toHaveLength(1)
    expect((await pay()).body).not.toMatchObject({ field_errors: expect.any(Object) })
  })
})

describe('a verdict row that is unreadable', () => {
  const UNREADABLE = { history_day: 'x', version: 'x' }

  it('is a difference of its client, and the next audit writes it anew', async ({
    deps,
    client,
    pay,
  }) => {
    const { clientId } = client
    await alter(deps, verdictKey(clientId), UNREADABLE)
    const { not_repairable: named } = await recountLedger(deps, { clientId, operator: OPERATOR })
    expect(await pay()).toMatchObject({ status: 422 })

    await auditClient(deps, clientId)

    const unreadable = { what: 'verdict', id: clientId, found: 'unreadable' }
    const verdict = await readVerdict(deps, clientId)
    expect(named).toMatchObject([unreadable])
    expect(verdict).toMatchObject({ version: 2, standing: [unreadable] })
    expect(verdict.historyDay).toBeDefined()
  })

  it('of the gateway keeps the time of a restore that is noted meanwhile', async ({
    deps,
    client,
  }) => {
    const key = verdictKey(GATEWAY_OWNER)
    await alter(deps, key, UNREADABLE)
    aDayLater(deps)
    const restored = beforeFirst(deps, writesTo(key), () => noteRestore(deps.requests))

    const { differences } = await auditWholeGateway(withoutSleep(restored))

    expect(differences).toMatchObject([{ what: 'verdict', id: GATEWAY_OWNER }])
    expect(await readVerdict(deps, GATEWAY_OWNER)).toMatchObject({
      figuresAt: deps.now(),
      restoredAt: expect.any(String),
    })
    expect(await standingOf(deps, client)).toStrictEqual([])
  })

  it('or cannot be written stops no audit of another owner', async ({ deps, client }) => {
    const [unreadable, unwritable] = [client, await withoutFloor(deps)]
    const clients = [unreadable, unwritable, await withoutFloor(deps)]
    for (const one of clients) await halvedSuspense(deps, one)
    await alter(deps, verdictKey(unreadable.clientId), UNREADABLE)
    const broken = dyingBefore(withoutSleep(deps), verdictKey(unwritable.clientId).pk)
    const auditId = async () => (await readVerdict(deps, GATEWAY_OWNER)).progress?.auditId
    aDayLater(deps)

    await expect(auditGateway(broken)).rejects.toThrow('the differences of 1 clients')

    const standing = await Promise.all(clients.map((one) => standingOf(deps, one)))
    expect(standing.map(({ length }) => length)).toStrictEqual([1, 0, 1])
    const { figuresAt, historyDay } = await readVerdict(deps, GATEWAY_OWNER)
    // The next audit judges the same share again.
    expect([figuresAt, historyDay]).toStrictEqual([deps.now(), undefined])
    for (let runs = 0; runs === 0 || (await auditId()); runs++)
      await auditGateway(inSteps(broken), await auditId()).catch(() => undefined)
    expect((await readVerdict(deps, GATEWAY_OWNER)).historyDay).toBeUndefined()
  })
})
