import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { compareBooks } from '../../../shared/books/compare-books.ts'
import type { Client } from '../../../shared/client/client.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { comparedBooksKey } from '../../../shared/table/keys.ts'
import { DAY_MS, HOUR_MS, type Timestamp } from '../../../shared/time.ts'
import { dispute } from '../../support/dispute-builders.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aSucceededPayment, BANK, payOut, sweptNow, withFloor } from '../../support/settlement-builders.ts'
import { rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'

export const passes = (deps: TestDeps, ms: number) => deps.clock.advance(ms / 1_000)

/** A payment of 100,000, of which 96,000 come from the provider and 95,900 are the client's. */
export const RECEIVED = 96_000

/** One payment paid out, one in a settlement, one that waits; the provider has settled all but the last. */
export const aClientWithBooks = async (own?: TestDeps) => {
  const deps = own ?? memoryDeps()
  const client = await withFloor(deps, 0, { bank: BANK })
  const payments = []
  for (let number = 0; number < 3; number++) {
    const payment = await aSucceededPayment(deps, client)
    payments.push(payment)
    if (number === 2) break
    passes(deps, DAY_MS)
    await noteProviderSettled(deps, payment, deps.now())
    const settlement = await sweptNow(deps, client)
    if (number === 0) await payOut(deps, settlement)
  }
  passes(deps, 2 * HOUR_MS)
  const [paidOut, settled, waiting] = payments
  if (!paidOut || !settled || !waiting) throw new Error('three were paid')
  return { deps, client, paidOut, settled, waiting }
}

/** Every figure that is not nothing, and the verdict. */
export const booksOf = async (deps: TestDeps, client?: Client) => {
  const { body } = await invokeAdmin(getBooks, deps, client ? { client_id: client.clientId } : {})
  const { figures, balanced, ...rest } = body as {
    readonly figures: readonly { readonly name: string; readonly amount_minor: number; readonly source: string }[]
    readonly balanced: boolean | 'inconclusive'
  }
  const shown = figures.filter(({ amount_minor }) => amount_minor !== 0)
  return { ...Object.fromEntries(shown.map((one) => [one.name, one.amount_minor])), balanced, ...rest }
}

/** The worker, and every message it sends itself: those that wait for their time, at their time. Answers how many runs. */
export const compareToday = async (deps: TestDeps, { clientId }: Client): Promise<number> => {
  let runs = 0
  let notBefore: Timestamp | undefined
  do {
    deps.sent.splice(0)
    await compareBooks(deps, clientId, notBefore)
    runs++
    const [next] = deps.sent
    if (next === undefined) break
    passes(deps, next.message.delaySeconds * 1_000)
    notBefore = Object(next.message.body).not_before
  } while (runs < 100)
  return runs
}

export const aboutOf = (deps: TestDeps, { clientId }: Client, subject: string) =>
  findSuspense(deps, `${clientId}#${subject}`)
export const compared = (deps: TestDeps, { clientId }: Client) => rawItem(deps, comparedBooksKey(clientId))
export const toldOf = ({ published }: TestDeps) =>
  published.map(({ kind, subject }) => `${kind} ${subject.split('#')[1]}`)
export const reported = ({ lines }: TestDeps) =>
  lines
    .filter(({ code }) => code === 'books.compared')
    .map(({ fields }) => [fields?.['total_minor'], fields?.['explained_minor']])

/** What the provider should have settled long ago. */
export const overdue = async () => {
  const world = await aClientWithBooks()
  passes(world.deps, 5 * DAY_MS)
  await compareToday(world.deps, world.client)
  return world
}

/** What the provider has not settled is paid out, and went back by a dispute that can still be won. */
export const disputed = async () => {
  const world = await aClientWithBooks()
  passes(world.deps, DAY_MS)
  await payOut(world.deps, await sweptNow(world.deps, world.client))
  await dispute(world.deps, world.waiting)
  await compareToday(world.deps, world.client)
  return world
}

export const resolve = (deps: TestDeps, { clientId }: Client, subject = 'provider_overdue') =>
  resolveSuspense(deps, {
    suspenseId: `${clientId}#${subject}`,
    operator: 'ayu',
    resolution: 'written_off',
    notes: 'the provider went bankrupt',
  })
