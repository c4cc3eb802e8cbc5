import * as v from 'valibot'
import type { Deps, StoreDeps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { bookDay } from '../journal/day-totals.ts'
import { minor, ZERO } from '../money.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { listOpenSuspense } from '../suspense/list-suspense.ts'
import { syncJobKey } from '../table/keys.ts'
import { addMs, DAY_MS, HOUR_MS, msBetween } from '../time.ts'
import { keepBalance, type Question, readBalance, type StoredBalance } from './balance-store.ts'
import { providerSide } from './provider-side.ts'

type CompareDeps = Pick<
  Deps,
  'table' | 'provider' | 'stage' | 'now' | 'monotonicMs' | 'alerts' | 'log'
>

/**
 * Once a day the provider's own balance is compared with what the journal has at the provider and
 * what was read and waits (design section 12). Entries follow the provider by some minutes: the gap
 * is how far the balance lies outside what this sum was at the question and after three further
 * rounds of the sync. A gap that stands on three days is an alert. Runs every ten minutes: a look
 * may take several runs, and once a week one run names money that is in transit for too long. Safe
 * to repeat; a lost race writes nothing.
 */
export async function compareBalance(deps: CompareDeps) {
  const compared = await compare(deps, await readBalance(deps))
  // Last, because an alert that fails ends this run: of a failed run an alarm tells.
  await tellTransitWeekly(deps, await readBalance(deps))
  return compared
}

async function compare(deps: CompareDeps, balance: StoredBalance) {
  const begun = balance.question ?? (await ask(deps, balance))
  if (begun === undefined) return { asked: false }
  const round = await headRound(deps)
  if (balance.question && !begun.look && round === begun.round) return { waits: true }
  const look = begun.look ?? { at: deps.now(), sumMinor: ZERO }
  const side = await providerSide(deps, look)
  if ('look' in side) {
    await keepBalance(deps, balance, { ...balance, question: { ...begun, look: side.look } })
    deps.log.info('balance.waiting', { looks: begun.looks })
    return { waits: true }
  }
  // After a first look of several runs the question is asked again, and later looks begin after it.
  // So what moves while the clients are read lies between the sums.
  const isStale = begun.looks === 0 && begun.look !== undefined
  const question = isStale ? await ask(deps, balance) : begun
  if (question === undefined) {
    await keepBalance(deps, balance, { ...balance, question: undefined })
    return { asked: false }
  }
  const seen = {
    ...question,
    round,
    looks: question.looks + 1,
    look: undefined,
    waiting: [...side.waiting],
    lowMinor: minor(Math.min(question.lowMinor ?? side.minor, side.minor)),
    highMinor: minor(Math.max(question.highMinor ?? side.minor, side.minor)),
  }
  const gapMinor = gapOf(seen)
  const isOver = seen.looks > ROUNDS || msBetween(question.at, look.at) >= HOUR_MS
  if (gapMinor !== 0 && !isOver) {
    await keepBalance(deps, balance, { ...balance, question: seen })
    return { waits: true, gap_minor: gapMinor }
  }
  const gaps = [...balance.gaps, { day: question.day, gapMinor }].slice(-DAYS)
  const stands = gaps.length === DAYS && gaps.every((one) => one.gapMinor !== 0)
  // Before the write, so a crash repeats it.
  if (stands) await alert(deps, gapMinor, seen.waiting)
  if (!(await keepBalance(deps, balance, { ...balance, gaps, question: undefined })))
    return { waits: true }
  deps.log.info('balance.compared', { gap_minor: gapMinor })
  return { day: question.day, gap_minor: gapMinor }
}

const ROUNDS = 3
const DAYS = 3
/** Published before it is noted, so that a crash repeats the alert. */
async function tellTransitWeekly(deps: CompareDeps, read: StoredBalance) {
  const now = deps.now()
  if (read.transitToldAt && read.transitToldAt > addMs(now, -7 * DAY_MS)) return
  await tellTransit(deps)
  await keepBalance(deps, read, { ...read, transitToldAt: now })
}

/** Undefined: asked today already, or the provider does not answer. */
async function ask(deps: CompareDeps, { gaps }: StoredBalance): Promise<Question | undefined> {
  const [at, day] = [deps.now(), bookDay(deps.now())]
  if (gaps.at(-1)?.day === day) return undefined
  const answer = await deps.provider.getBalance()
  if (answer.kind !== 'found') return undefined
  const balanceMinor = answer.value.amountMinor
  return { at, day, balanceMinor, looks: 0, round: await headRound(deps), waiting: [] }
}

const RoundSchema = v.optional(v.object({ round: v.number() }), { round: 0 })

async function headRound(deps: CompareDeps) {
  return v.parse(RoundSchema, await deps.table.get(syncJobKey('head'))).round
}

/** How far the balance lies outside the sums that were seen. */
function gapOf({ balanceMinor, lowMinor = balanceMinor, highMinor = balanceMinor }: Question) {
  if (balanceMinor > highMinor) return minor(balanceMinor - highMinor)
  return minor(Math.min(0, balanceMinor - lowMinor))
}

async function alert({ alerts }: CompareDeps, gapMinor: number, waiting: readonly string[]) {
  const rows = waiting.length === 0 ? 'No row waits.' : `Rows wait: ${waiting.join(', ')}.`
  await alerts.publish({
    kind: 'balance.gap',
    subject: 'provider',
    message: `The provider's own balance has differed from the journal on three days, today by ${gapMinor} IDR. ${rows} Follow the runbook, the provider's balance.`,
  })
}

const TOO_LONG_MS = 30 * DAY_MS
const MAX_NAMED = 20
/** Their payments were posted without their own row. */
const WITHOUT_ROW = ['fee_assumed', 'transaction_missing']

/**
 * Names the payments whose money has been in transit for more than 30 days (design section 12):
 * their own row has not come. An explained finding is not named again.
 */
async function tellTransit(deps: StoreDeps & Pick<Deps, 'alerts' | 'log'>) {
  const since = addMs(deps.now(), -TOO_LONG_MS)
  const ids = (await listOpenSuspense(deps)).flatMap(({ cause, paymentId, createdAt }) =>
    WITHOUT_ROW.includes(cause) && createdAt < since
      ? (ifValid(PaymentIdSchema, paymentId) ?? [])
      : [],
  )
  const payments = await findPaymentsByKey(deps, [...new Set(ids)])
  const waiting = payments.filter(
    ({ openAt, ownRow, isVoid }) => openAt === undefined && !ownRow && isVoid !== true,
  )
  const named = waiting.slice(0, MAX_NAMED).map(({ paymentId }) => paymentId)
  if (named.length === 0) return
  const message = `The provider's own rows of these payments have not come for more than 30 days, so their money is still in transit (${waiting.length} in all): ${named.join(', ')}. Ask the provider about them, then explain their findings with resolve-suspense.`
  await deps.alerts.publish({ kind: 'payment.in_transit', subject: 'provider', message })
}
