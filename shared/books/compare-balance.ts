import * as v from 'valibot'
import { storedPayment } from '../audit/judged/client-books.ts'
import { walkClients } from '../client/client-register.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { bookDay } from '../journal/day-totals.ts'
import { houseTotals } from '../journal/house-store.ts'
import { minor } from '../money.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import { syncJobKey } from '../table/keys.ts'
import { itemPages } from '../table/list-items.ts'
import { addMs, DAY_MS, HOUR_MS, msBetween } from '../time.ts'
import { keepBalance, type Question, readBalance, type StoredBalance } from './balance-store.ts'
import { readClientBook } from './client-book.ts'
import { tellTransit } from './tell-transit.ts'

type CompareDeps = Pick<
  Deps,
  'table' | 'provider' | 'stage' | 'now' | 'monotonicMs' | 'alerts' | 'log'
>

/**
 * Once a day the provider's own balance is compared with what the journal has at the provider and
 * what was read and waits (design section 12). Entries follow the provider by some minutes: the gap
 * is how far the balance lies outside what this sum was at the question and after three further
 * rounds of the sync. A gap that stands on three days is an alert. Runs every ten minutes: one run
 * asks, the next look, and once a week one names money that is in transit for too long. Safe to
 * repeat; a lost race does nothing.
 */
export async function compareBalance(deps: CompareDeps): Promise<object> {
  const balance = await withTransitTold(deps, await readBalance(deps))
  const question = balance.question ?? (await ask(deps, balance))
  if (question === undefined) return { asked: false }
  const round = await headRound(deps)
  if (balance.question && round === question.round) return { waits: true }
  const side = await providerSide(deps)
  if (side === undefined) return { waits: true }
  const seen = {
    ...question,
    round,
    looks: question.looks + 1,
    waiting: side.waiting,
    lowMinor: minor(Math.min(question.lowMinor ?? side.minor, side.minor)),
    highMinor: minor(Math.max(question.highMinor ?? side.minor, side.minor)),
  }
  const gapMinor = gapOf(seen)
  const isOver = seen.looks > ROUNDS || msBetween(question.at, deps.now()) >= HOUR_MS
  if (gapMinor !== 0 && !isOver) {
    await keepBalance(deps, balance, { ...balance, question: seen })
    return { waits: true, gap_minor: gapMinor }
  }
  const gaps = [...balance.gaps, { day: question.day, gapMinor }].slice(-DAYS)
  const after = { ...balance, gaps, question: undefined }
  if (!(await keepBalance(deps, balance, after))) return { waits: true }
  deps.log.info('balance.compared', { gap_minor: gapMinor })
  if (standingGap(gaps) !== undefined) await alert(deps, gapMinor, seen.waiting)
  return { day: question.day, gap_minor: gapMinor }
}

const ROUNDS = 3
const DAYS = 3

/** Told before it is noted, so that a crash tells it again. */
async function withTransitTold(deps: CompareDeps, read: StoredBalance): Promise<StoredBalance> {
  const isDue = (read.transitToldAt ?? '') <= addMs(deps.now(), -7 * DAY_MS)
  if (!isDue) return read
  await tellTransit(deps)
  const next = { ...read, transitToldAt: deps.now() }
  const isKept = await keepBalance(deps, read, next)
  return isKept ? { ...next, version: read.version + 1 } : read
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

async function headRound(deps: CompareDeps): Promise<number> {
  return v.parse(RoundSchema, await deps.table.get(syncJobKey('head'))).round
}

const MAX_NAMED = 20
const PAGE = 500

/**
 * At the provider by the journal, and by rows that were read and wait: noted on open payments, and
 * own rows that contradict themselves before their seventh day. Undefined: no time was left.
 */
async function providerSide(deps: CompareDeps) {
  const today = bookDay(deps.now())
  const waiting: string[] = []
  let sum = 0
  const readOne = async (clientId: ClientId) => {
    const { book } = await readClientBook(deps, clientId, { from: today, to: today })
    sum += book['at_provider'] ?? 0
    const open = { kind: 'PAYMENT', index: 'by-open', partition: [clientId], limit: PAGE } as const
    for await (const page of itemPages(deps, open)) {
      for (const row of page) {
        const payment = storedPayment(row)
        if (payment?.openAt === undefined) continue
        const contradiction = await findSuspense(deps, `${payment.paymentId}#row_contradicts`)
        const noted = payment.movements.reduce((total, one) => total + one.providerMinor, 0)
        const waits = noted + (contradiction?.providerMinor ?? 0)
        if (waits !== 0) waiting.push(payment.paymentId)
        sum += waits
      }
    }
  }
  const position = await walkClients(deps, undefined, {
    read: async (clientIds) => {
      for (const clientId of clientIds) await readOne(clientId)
    },
    isFull: () => false,
  })
  if (position) return undefined
  const totals = await houseTotals(deps, { fromDay: '0', untilDay: today })
  for (const { providerMinor } of totals) sum += providerMinor
  return { minor: minor(sum), waiting: waiting.slice(0, MAX_NAMED) }
}

/** How far the balance lies above or below the sums that were seen. */
function gapOf({ balanceMinor, lowMinor = balanceMinor, highMinor = balanceMinor }: Question) {
  if (balanceMinor > highMinor) return minor(balanceMinor - highMinor)
  return minor(Math.min(0, balanceMinor - lowMinor))
}

/** The last gap, if the last three days have one each. */
function standingGap(gaps: StoredBalance['gaps']) {
  const stands = gaps.length === DAYS && gaps.every(({ gapMinor }) => gapMinor !== 0)
  return stands ? gaps.at(-1)?.gapMinor : undefined
}

async function alert({ alerts }: CompareDeps, gapMinor: number, waiting: readonly string[]) {
  const rows = waiting.length === 0 ? 'No row waits.' : `Rows wait of ${waiting.join(', ')}.`
  await alerts.publish({
    kind: 'balance.gap',
    subject: 'provider',
    message: `The provider's own balance has differed from the journal on three days, today by ${gapMinor} IDR. ${rows} Follow the runbook, the provider's balance.`,
  })
}
