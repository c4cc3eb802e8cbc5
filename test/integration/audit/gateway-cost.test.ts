/**
 * Goal: a night of the gateway's audit costs what is new and a share of the history, and ends in
 * runs of bounded time.
 */
import { expect, it } from 'vitest'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { dayText } from '../../../shared/audit/judged/audit-journal.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { houseEntryKey } from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { DAY_MS, dayNumber, MINUTE_MS, SECOND_MS } from '../../../shared/time.ts'
import { readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import { aRefund } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import {
  aDayLater,
  aLoneClient,
  inSteps,
  runAudit,
  withoutFloor,
  withoutSleep,
} from '../../support/settlement-builders.ts'
import { putRaw } from '../../support/tampering.ts'
import { interceptTable, memoryDeps } from '../../support/test-deps.ts'
import { halvedSuspense } from './held-suspense.ts'

const ROUNDS = 2
const REFUNDS = 60
const ROUND_SECONDS = (5 * 365 * DAY_MS) / SECOND_MS / ROUNDS
const NIGHTS = 12

it('a night costs the same after two years and a half and after five', async () => {
  const { deps, client } = await aLoneClient()
  let requests = 0
  const counted = interceptTable(withoutSleep(deps), { before: () => void requests++ })
  const nights: number[] = []
  await auditGateway(counted)
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < REFUNDS; at++) {
      const payment = await aSucceededPayment(deps, client)
      const refund = { ...aRefund(deps, 10_000), transactionId: `txn-${round}-${at}` }
      await movePayment(deps, payment, refund)
    }
    deps.clock.advance(ROUND_SECONDS)
    await auditWholeGateway(counted)
    requests = 0
    for (let night = 0; night < NIGHTS; night++) {
      aDayLater(deps)
      await auditGateway(counted)
    }
    nights.push(requests / NIGHTS)
  }

  const [early = 0, late = 0] = nights
  expect(late - early).toBeLessThan(REFUNDS)
})

it('a night in several runs keeps what each run found, and is fresh after the last run', async () => {
  const deps = inSteps(memoryDeps(), 2, 3)
  const client = await withoutFloor(deps)
  const strayKey = houseEntryKey(dayText(dayNumber(deps.now())), 'txn-1', 'topup')
  await putRaw(deps, { ...strayKey, type: 'topup' })
  await halvedSuspense(deps, client)
  const beganAt = deps.now()
  const verdict = () => readClientVerdict(deps, GATEWAY_OWNER)

  const fresh: unknown[] = []
  await runAudit(deps, async (auditId) => {
    await auditGateway(withoutSleep(deps), auditId)
    fresh.push((await verdict()).figuresAt)
    deps.clock.advance(MINUTE_MS / SECOND_MS)
  })

  expect(fresh.length).toBeGreaterThan(2)
  expect(new Set(fresh.slice(0, -1))).toStrictEqual(new Set([undefined]))
  expect(fresh.at(-1)).toBe(beganAt)
  const { standing, progress } = await verdict()
  expect(new Set(standing.map(({ what }) => what))).toStrictEqual(new Set(['house_entry']))
  expect(progress).toBeUndefined()
  expect((await readClientVerdict(deps, client.clientId)).standing).toMatchObject([
    { part: 'suspense', what: 'suspense.amount_minor' },
  ])
})

it('an audit on demand reads newest first, and a call with from goes on', async () => {
  const deps = memoryDeps()
  await auditGateway(deps)
  const { figuresAt } = await readClientVerdict(deps, GATEWAY_OWNER)
  deps.clock.advance(90 * (DAY_MS / SECOND_MS))
  /** Each look at the clock costs 50 seconds. */
  const slow = () => {
    let readAt = 0
    return { ...withoutSleep(deps), monotonicMs: () => (readAt += 50_000) }
  }

  const read: string[] = []
  let from: string | undefined
  do {
    const { balanced, next } = await auditWholeGateway(slow(), from)
    expect(balanced).toBe(next === undefined ? true : 'inconclusive')
    if (next) read.push(next)
    from = next
  } while (from !== undefined)

  const blocks = read.filter((part) => part.startsWith('house'))
  expect(blocks.length).toBeGreaterThan(2)
  expect(blocks).toStrictEqual(blocks.toSorted().toReversed())
  // No single call has read all parts.
  expect(await readClientVerdict(deps, GATEWAY_OWNER)).toMatchObject({ figuresAt })
})
