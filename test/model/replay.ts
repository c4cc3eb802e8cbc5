import * as v from 'valibot'
import { handler as adjustHouseAction } from '../../functions/admin/adjust-house.ts'
import { handler as getBooks } from '../../functions/admin/get-books.ts'
import { auditLedger } from '../../shared/audit/audit-client.ts'
import { auditGateway } from '../../shared/audit/audit-gateway.ts'
import type { Client } from '../../shared/client/client.ts'
import { bookDay } from '../../shared/journal/day-totals.ts'
import { findUnclaimedRow, takeOverRow } from '../../shared/journal/house-store.ts'
import { getBalance } from '../../shared/ledger/ledger-store.ts'
import { minor, ZERO } from '../../shared/money.ts'
import { postOverduePayments } from '../../shared/posting/assume-fee.ts'
import { movePayment } from '../../shared/posting/move-payment.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { heldMoney, recordSuspense } from '../../shared/suspense/record-suspense.ts'
import { resolveSuspense } from '../../shared/suspense/resolve-suspense.ts'
import { reconcileTransaction } from '../../shared/sync/reconcile-transaction.ts'
import { fromItem } from '../../shared/table/attributes.ts'
import { addMs, DAY_MS, epochMs, HOUR_MS } from '../../shared/time.ts'
import { createPrng } from '../simulation/world/prng.ts'
import { settledRow } from '../support/fake-provider.ts'
import { adjustBalance } from '../support/money-rows.ts'
import { invokeAdmin, OPERATOR } from '../support/operator-actions.ts'
import {
  BANK,
  fail,
  payOut,
  recredit,
  sweep,
  withoutFloor,
} from '../support/settlement-builders.ts'
import { creditedPayment, type PaidUpstream, paymentOf } from '../support/synced-payment.ts'
import { memoryDeps } from '../support/test-deps.ts'
import { withApproval } from '../support/with-approval.ts'
import { ACCOUNTS, journalModel, type ModelRow, type Sums } from './journal-model.ts'

/**
 * Plays one random history on the gateway and on the model: the provider's rows in any order, and
 * what operators do. Answers what differs: entries, books by day, or an audit that finds something.
 */
export async function replayHistory(seed: number): Promise<readonly string[]> {
  const play = await playHistory(seed)
  return [...entryDifferences(play), ...(await bookDifferences(play)), ...(await audits(play))]
}

export async function playHistory(seed: number): Promise<Play> {
  const play = await begin(seed)
  const { prng } = play
  for (let left = prng.pick([10, 20, 40, 60]); left > 0; left--) {
    play.deps.clock.advance(prng.int(60, 20_000))
    play.model.setTime(epochMs(play.deps.now()))
    await prng.pick(STEPS)(play)
  }
  play.deps.clock.advance(600)
  return play
}

async function begin(seed: number) {
  const prng = createPrng(seed)
  const isInvoiced = prng.chance(1 / 4)
  const made = memoryDeps()
  const deps = isInvoiced
    ? { ...made, stage: { ...made.stage, providerFees: 'invoiced' as const } }
    : made
  const clients = [await withoutFloor(deps, { bank: BANK })]
  if (prng.chance(1 / 2)) clients.push(await withoutFloor(deps, { bank: BANK }))
  deps.clock.advance(60)
  return {
    prng,
    deps,
    isInvoiced,
    clients,
    model: journalModel(),
    paid: new Map<string, Paid>(),
    held: new Map<string, Held>(),
    rows: [] as Shown[],
    settlements: [] as { readonly settlement: Settlement; state: 'recorded' | 'failed' | 'done' }[],
    odd: new Map<string, number>(),
    /** Whose rows contradict themselves: clients, or the house. */
    contradicted: new Set<string>(),
  }
}

type Play = Awaited<ReturnType<typeof begin>>
type Paid = PaidUpstream & {
  readonly paidAtMs: number
  ownRow?: ProviderTransaction
  isVoid?: true
}
type Held = { readonly providerPaymentId: string; ownRow?: ProviderTransaction; isVoid?: true }
type Shown = {
  readonly row: ProviderTransaction
  readonly of: { readonly payment: string } | { readonly item: string } | 'house'
  readonly figures: ModelRow
  isUndone?: true
}

const ASK = { isAllowed: async () => false, noteUnanswered: async () => undefined }

const STEPS: readonly ((play: Play) => Promise<void>)[] = [
  ...times(4, pay),
  ...times(4, settleOwnRow),
  ...times(5, takeBack),
  ...times(3, undo),
  voidOwnRow,
  aWeekLater,
  hold,
  ...times(2, settleHeld),
  ...times(2, giveHeldBack),
  voidHeld,
  resolveHeld,
  ...times(2, bookHouse),
  ...times(2, adjust),
  correctByRow,
  refundByBank,
  refundByRow,
  adjustHouse,
  ...times(2, settle),
  ...times(2, close),
]

function times<T>(count: number, thing: T): readonly T[] {
  return Array.from({ length: count }, () => thing)
}

async function pay({ prng, deps, model, clients, paid, isInvoiced }: Play): Promise<void> {
  const client = prng.pick(clients)
  const gross = prng.pick([1, 3_999, 4_004, 4_500, 10_000, 50_000, 100_000, 250_000])
  const one = await creditedPayment(deps, client, { notionalMinor: minor(gross) })
  const { paymentId: id, providerFeeMinor: fee, markupMinor: markup } = one.payment
  paid.set(id, { ...one, paidAtMs: epochMs(deps.now()) })
  model.pay(id, { client: client.clientId, gross, fee, markup, invoiced: isInvoiced })
}

async function settleOwnRow({ prng, deps, model, paid, ...play }: Play): Promise<void> {
  const { isInvoiced, odd, contradicted } = play
  const one = pickOf(prng, paid, ({ ownRow, isVoid }) => ownRow === undefined && isVoid !== true)
  if (one === undefined) return
  const { paymentId: id, notionalMinor: gross } = one.payment
  const isOdd = prng.chance(1 / 8)
  const usual = isInvoiced ? prng.pick([0, 0, 0, 4_000]) : prng.pick([4_000, 4_000, 4_440, 0])
  const amount = isOdd ? gross + prng.pick([-1, 1, 500, 0]) : gross
  const kept = isOdd && amount === gross ? 44_000 : usual
  const p = amount - kept
  const figures = { amountMinor: minor(amount), keptMinor: minor(kept), providerMinor: minor(p) }
  one.ownRow = settledRow(one, deps.now(), figures)
  if (isOdd) {
    odd.set(id, p)
    contradicted.add(one.payment.clientId)
    deps.provider.transactions.push(one.ownRow)
  }
  await read(deps, one.ownRow, one)
  const { isPosted, own } = model.payments.get(id) ?? {}
  if (!isPosted && !isOdd) model.post(id, { p, isOdd })
  else if (isPosted && own === undefined) model.lateRow(id, { p, isOdd })
}

async function read(deps: Play['deps'], row: ProviderTransaction, one?: PaidUpstream) {
  const payment = one && (await paymentOf(deps, one))
  await reconcileTransaction(deps, { transaction: row, payment }, ASK)
}

/** The row may be read before its chargeback, and may contradict itself. */
async function takeBack(play: Play): Promise<void> {
  const { prng, deps, model, paid, rows } = play
  const one = pickOf(prng, paid, () => true)
  if (one === undefined) return
  const { paymentId, notionalMinor: gross } = one.payment
  const type = prng.pick(['refund', 'refund', 'chargeback', 'chargeback', 'dispute_won'] as const)
  const a = prng.pick([gross, gross, Math.ceil(gross / 2), Math.ceil(gross / 3), 90_000])
  const figures = drawRow(play, type === 'dispute_won' ? 'in' : 'out', a, one.payment.clientId)
  const disputed = { amountMinor: minor(a + figures.c), disputedMinor: minor(a) }
  const row = settledRow(one, addMs(deps.now(), -3 * DAY_MS), {
    type: type === 'dispute_won' ? 'correction' : 'return',
    ...(type === 'dispute_won' && { isDisputeWon: true }),
    ...(type === 'chargeback' && { reversalKind: 'chargeback' }),
    ...shownFigures(figures),
    ...(type === 'chargeback' && disputed),
  })
  rows.push({ row, of: { payment: paymentId }, figures })
  await read(deps, row, one)
  model.move(paymentId, { type, id: row.transactionId, ...figures })
}

/** `owner`: who is told if the row contradicts itself; undefined: a row of nobody. */
function drawRow(
  { prng, contradicted }: Play,
  direction: 'in' | 'out',
  a: number,
  owner: string | undefined,
): ModelRow {
  const c = prng.pick([0, 0, 2_500, 500])
  const p = direction === 'out' ? -(a + c) : a - c
  const isOdd = p !== 0 && prng.chance(1 / 15)
  if (isOdd && owner) contradicted.add(owner)
  return { a, c, p: isOdd ? prng.pick([-p, p - 1, 0]) : p }
}

function shownFigures({ p, a, c }: ModelRow) {
  const feeMinor = c === 0 ? undefined : minor(c)
  return { amountMinor: minor(a), providerMinor: minor(p), feeMinor, keptMinor: undefined }
}

async function undo({ prng, deps, model, paid, rows }: Play): Promise<void> {
  const shown = pickFrom(
    prng,
    rows.filter(({ isUndone }) => isUndone !== true),
  )
  if (shown === undefined) return
  shown.isUndone = true
  const status = shown.of === 'house' && prng.chance(1 / 2) ? 'failed' : 'reversed'
  const row = { ...shown.row, status, updatedAt: deps.now() } as const
  const { transactionId: id } = row
  const { of } = shown
  await read(deps, row, of !== 'house' && 'payment' in of ? paid.get(of.payment) : undefined)
  if (of === 'house') model.houseVoid(id)
  else if ('item' in of) model.heldBackVoid(of.item, id)
  else model.move(of.payment, { type: 'reversal', id })
}

async function voidOwnRow({ prng, deps, model, paid }: Play): Promise<void> {
  const one = pickOf(prng, paid, ({ isVoid }) => isVoid !== true)
  if (one === undefined) return
  one.isVoid = true
  const row = one.ownRow ?? settledRow(one, deps.now(), { amountMinor: one.payment.notionalMinor })
  await read(deps, { ...row, status: 'reversed', keptMinor: undefined }, one)
  model.move(one.payment.paymentId, { type: 'void', id: row.transactionId })
}

async function aWeekLater(play: Play): Promise<void> {
  play.deps.clock.advance(8 * 86_400)
  play.model.setTime(epochMs(play.deps.now()))
  for (const client of play.clients) await postOverdue(play, client)
}

async function postOverdue(play: Play, { clientId }: Client): Promise<void> {
  await postOverduePayments(play.deps, clientId)
  const weekAgo = epochMs(play.deps.now()) - 7 * DAY_MS
  for (const [id, one] of play.paid) {
    const { isPosted, client } = play.model.payments.get(id) ?? {}
    if (isPosted || client !== clientId || one.paidAtMs > weekAgo) continue
    const p = play.odd.get(id)
    play.model.post(id, p === undefined ? undefined : { p, isOdd: true })
  }
}

async function hold({ prng, deps, model, held }: Play): Promise<void> {
  const capturedMinor = minor(prng.pick([1, 5_000, 60_000]))
  const capture = { providerPaymentId: `py-${crypto.randomUUID()}`, capturedMinor }
  const about = { cause: 'unknown_reference', payment: undefined, now: deps.now() } as const
  await recordSuspense(deps, heldMoney({ capture, ...about }))
  held.set(capture.providerPaymentId, capture)
  model.hold(capture.providerPaymentId, capturedMinor)
}

async function settleHeld({ prng, deps, model, held }: Play): Promise<void> {
  const one = pickOf(prng, held, ({ ownRow }) => ownRow === undefined)
  if (one === undefined) return
  const { providerPaymentId: id } = one
  const amount = model.items.get(id)?.amount ?? 0
  const p = amount - prng.pick([0, 4_000])
  const figures = {
    amountMinor: minor(amount),
    keptMinor: minor(amount - p),
    providerMinor: minor(p),
  }
  one.ownRow = settledRow({ ...one, reference: 'order 17' }, deps.now(), figures)
  if (one.isVoid) return
  await read(deps, one.ownRow)
  model.heldRow(id, p)
}

async function giveHeldBack(play: Play): Promise<void> {
  const { prng, deps, model, held, rows } = play
  const one = pickOf(prng, held, () => true)
  if (one === undefined) return
  const { providerPaymentId: item } = one
  const amount = model.items.get(item)?.amount ?? 0
  const figures = drawRow(
    play,
    'out',
    prng.pick([amount, Math.ceil(amount / 2), amount + 7]),
    'house',
  )
  const shown = { type: 'return', createdAt: deps.now(), ...shownFigures(figures) } as const
  const row = settledRow({ ...one, reference: 'order 17' }, deps.now(), shown)
  rows.push({ row, of: { item }, figures })
  await read(deps, row)
  model.heldBack(item, row.transactionId, figures)
}

async function voidHeld({ prng, deps, model, held }: Play): Promise<void> {
  const one = pickOf(prng, held, ({ isVoid }) => isVoid !== true)
  if (one === undefined) return
  one.isVoid = true
  const row = one.ownRow ?? settledRow({ ...one, reference: 'order 17' }, deps.now())
  await read(deps, { ...row, status: 'reversed', keptMinor: undefined })
  model.heldVoid(one.providerPaymentId)
}

async function resolveHeld({ prng, deps, model }: Play): Promise<void> {
  const open = [...model.items].filter(
    ([, { own, isVoid, resolved, amount, back }]) =>
      own !== undefined &&
      !isVoid &&
      resolved === undefined &&
      [...back.values()].reduce((left, { took, again }) => left - took + again, amount) > 0,
  )
  const [suspenseId] = pickFrom(prng, open) ?? []
  if (suspenseId === undefined) return
  const resolution = prng.pick(['refunded_by_bank', 'written_off'] as const)
  const decision = { suspenseId, operator: OPERATOR, resolution, notes: 'by hand' }
  await withApproval(deps, () => resolveSuspense(deps, decision))
  model.resolve(suspenseId, resolution === 'refunded_by_bank')
}

async function bookHouse(play: Play): Promise<void> {
  const { prng, deps, model, rows } = play
  const type = prng.pick(['unmatched', 'topup', 'withdrawal'] as const)
  const direction = type === 'topup' || prng.chance(1 / 4) ? 'in' : 'out'
  const figures = drawRow(
    play,
    type === 'withdrawal' ? 'out' : direction,
    prng.pick([1_000, 40_000]),
    type === 'unmatched' ? undefined : 'house',
  )
  const shown = { type: 'account', createdAt: deps.now(), ...shownFigures(figures) } as const
  const transfer = type === 'unmatched' ? {} : { transfer: type }
  const about = { providerPaymentId: '', reference: 'the account' }
  const row = settledRow(about, deps.now(), { ...shown, ...transfer })
  rows.push({ row, of: 'house', figures })
  await read(deps, row)
  model.houseRow(row.transactionId, type, figures)
}

async function adjust({ prng, deps, model, clients }: Play): Promise<void> {
  const client = prng.pick(clients)
  const { pendingMinor, availableMinor } = await getBalance(deps, client.clientId)
  const owed = Math.max(0, -(pendingMinor + availableMinor))
  const given = model.writtenOff.get(client.clientId) ?? 0
  const kind = prng.pick(['recovered', 'written_off', 'written_off', 'correction'] as const)
  const amount =
    kind === 'correction'
      ? prng.pick([-1_500, 700])
      : kind === 'written_off' && prng.chance(1 / 3)
        ? -given
        : prng.pick([owed, Math.ceil(owed / 2)])
  if (amount === 0) return
  await adjustBalance(deps, client, kind, amount)
  model.adjust(client.clientId, kind, amount)
}

async function correctByRow(play: Play): Promise<void> {
  const shown = openHouseRow(play)
  if (shown === undefined) return
  const { deps, model, prng } = play
  const client = prng.pick(play.clients)
  const { transactionId } = shown.row
  const amount = prng.pick([shown.figures.p || 5, -700])
  await adjustBalance(deps, client, 'correction', amount, undefined, transactionId)
  model.takeOver(transactionId, 'correction')
  model.adjust(client.clientId, 'correction', amount, shown.figures.p)
}

/** A row that an operator may take over. */
function openHouseRow({ prng, model, rows }: Play) {
  return pickFrom(
    prng,
    rows.filter(
      ({ row, of, isUndone }) =>
        of === 'house' && !isUndone && model.rows.get(row.transactionId)?.taken === undefined,
    ),
  )
}

async function refundByBank({ prng, deps, model, paid }: Play): Promise<void> {
  const one = pickOf(prng, paid, ({ isVoid }) => isVoid !== true)
  if (one === undefined) return
  const { paymentId, notionalMinor } = one.payment
  const a = prng.pick([notionalMinor, Math.ceil(notionalMinor / 2)])
  const transactionId = `bank:${crypto.randomUUID()}`
  const row = { transactionId, amountMinor: minor(a), providerMinor: ZERO, at: deps.now() }
  const payment = await paymentOf(deps, one)
  await movePayment(deps, payment, { type: 'refund', isByBank: true, ...row })
  model.move(paymentId, { type: 'refund', id: transactionId, a, c: 0, p: 0, byBank: true })
}

async function refundByRow(play: Play): Promise<void> {
  const { prng, deps, model, paid } = play
  const shown = openHouseRow(play)
  const one = pickOf(prng, paid, ({ isVoid }) => isVoid !== true)
  if (shown === undefined || one === undefined || shown.figures.p >= 0) return
  const { transactionId } = shown.row
  const { paymentId, clientId } = one.payment
  const entry = await findUnclaimedRow(deps, transactionId)
  if (entry === undefined) throw new Error(`${transactionId} is not booked`)
  await deps.table.transact(takeOverRow(entry, { postedAt: deps.now(), clientId, paymentId }))
  const { amountMinor, feeMinor, providerMinor } = shown.row
  const row = { transactionId, amountMinor, providerMinor, feeMinor, at: deps.now() }
  await movePayment(deps, await paymentOf(deps, one), { type: 'refund', ...row })
  const { p, a, c } = shown.figures
  if (p !== -(a + c)) play.contradicted.add(clientId)
  model.takeOver(transactionId, { payment: paymentId })
  model.move(paymentId, { type: 'refund', id: transactionId, ...shown.figures })
}

async function adjustHouse({ prng, deps, model }: Play): Promise<void> {
  const legs = prng.pick([
    { bank: -6_500, cost: -6_500 },
    { bank: 300, other: 300 },
    { bank: -12_000, transit: 11_700, cost: -300 },
  ])
  const sides = Object.fromEntries(
    (['bank', 'transit', 'cost', 'other'] as const).map((name) => [
      `${name}_minor`,
      (legs as Partial<Sums>)[name] ?? 0,
    ]),
  )
  const input = { operator: OPERATOR, reference: crypto.randomUUID(), notes: 'invoice', ...sides }
  const { status, body } = await invokeAdmin(adjustHouseAction, deps, input)
  if (status !== 200) throw new Error(`adjust-house answers ${JSON.stringify(body)}`)
  model.adjustHouse(legs)
}

async function settle(play: Play): Promise<void> {
  const client = play.prng.pick(play.clients)
  const settlement = await sweep(play.deps, client)
  await postOverdue(play, client)
  if (settlement) play.settlements.push({ settlement, state: 'recorded' })
}

async function close({ prng, deps, model, settlements }: Play): Promise<void> {
  const one = pickFrom(
    prng,
    settlements.filter(({ state }) => state !== 'done'),
  )
  if (one === undefined) return
  const { settlement } = one
  const { clientId, netMinor } = settlement
  if (one.state === 'failed') {
    await recredit(deps, settlement)
    model.recredit(clientId)
    one.state = 'done'
  } else if (prng.chance(1 / 3)) {
    await fail(deps, settlement)
    one.state = 'failed'
  } else {
    await payOut(deps, settlement)
    model.setTime(epochMs(deps.now()))
    model.payOut(clientId, netMinor)
    one.state = 'done'
  }
}

type Prng = Play['prng']

function pickOf<T>(prng: Prng, things: ReadonlyMap<string, T>, isWanted: (thing: T) => boolean) {
  return pickFrom(prng, [...things.values()].filter(isWanted))
}

function pickFrom<T>(prng: Prng, things: readonly T[]): T | undefined {
  return things.length === 0 ? undefined : prng.pick(things)
}

function entryDifferences({ deps, model }: Play): readonly string[] {
  const stored = deps.stored
    .items()
    .map((item) => fromItem(item))
    .filter(({ pk }) => String(pk).startsWith('JOURNAL#'))
    .map((item) => {
      const legs = ACCOUNTS.map((name) => Number(item[`${name}Minor`] ?? 0))
      const owner = String(item['pk']).split('#')[1] ?? ''
      return lineOf(owner, String(item['type']), legs)
    })
  const modelled = model.entries
    .filter(({ type }) => type !== 'payout')
    .map(({ owner, type, sums }) =>
      lineOf(
        owner,
        type,
        ACCOUNTS.map((name) => sums[name]),
      ),
    )
  return [...surplus(stored, modelled, 'stored'), ...surplus(modelled, stored, 'in the model')]
}

function lineOf(owner: string, type: string, legs: readonly number[]): string {
  return `${owner} ${type} ${legs.map((leg) => leg + 0).join(' ')}`
}

function surplus(of: readonly string[], others: readonly string[], where: string) {
  const left = [...others]
  return of.flatMap((line) => {
    const at = left.indexOf(line)
    if (at === -1) return [`only ${where}: ${line}`]
    left.splice(at, 1)
    return []
  })
}

/** By the names of the books. */
const NAMES = {
  provider: 'at_provider',
  bank: 'at_bank',
  transit: 'transit',
  suspense: 'in_suspense',
  net: 'clients',
  markup: 'markup',
  cost: 'cost',
  other: 'other',
} as const satisfies Record<keyof Sums, string>

const Books = v.object({
  figures: v.array(v.object({ name: v.string(), amount_minor: v.number() })),
  balanced: v.boolean(),
})

async function bookDifferences({
  prng,
  deps,
  model,
  clients,
  contradicted,
}: Play): Promise<readonly string[]> {
  const today = bookDay(deps.now())
  const from = bookDay(addMs(deps.now(), -prng.int(0, 30) * DAY_MS))
  const to = [bookDay(addMs(deps.now(), -prng.int(0, 10) * DAY_MS)), today, today][prng.int(0, 2)]
  const client = prng.chance(1 / 2) ? prng.pick(clients) : undefined
  const days = { from: to !== undefined && to < from ? to : from, to: to ?? today }
  const input = { ...days, ...(client && { client_id: client.clientId }) }
  const { status, body } = await invokeAdmin(getBooks, deps, input)
  if (status !== 200) return [`get-books answers ${status} ${JSON.stringify(body)}`]
  const { figures, balanced } = v.parse(Books, body)
  const shown = new Map(figures.map(({ name, amount_minor }) => [name, amount_minor]))
  const upTo = (isIn: (day: string) => boolean, account: keyof Sums) =>
    model.entries
      .filter(({ owner, at }) => isIn(dayOf(at)) && (client?.clientId ?? owner) === owner)
      .reduce((sum, { sums }) => sum + sums[account], 0)
  const differences = ACCOUNTS.flatMap((account) => {
    const name = NAMES[account]
    const closing = account === 'markup' ? 'closing.markup' : name
    return [
      [`opening.${name}`, upTo((day) => day < days.from, account)] as const,
      [closing, upTo((day) => day <= days.to, account)] as const,
    ].flatMap(([figure, expected]) =>
      shown.get(figure) === expected + 0
        ? []
        : [`${figure} ${days.from} to ${days.to}: ${shown.get(figure)}, not ${expected}`],
    )
  })
  const open = model.openNet(client?.clientId)
  if (shown.get('open') !== open + 0) differences.push(`open: ${shown.get('open')}, not ${open}`)
  const isContradicted = client ? contradicted.has(client.clientId) : contradicted.size > 0
  if (balanced === isContradicted) differences.push(`balanced: ${JSON.stringify(body)}`)
  return differences
}

function dayOf(at: number): string {
  return new Date(at + 7 * HOUR_MS).toISOString().slice(0, 10)
}

async function audits({ deps, clients }: Play): Promise<readonly string[]> {
  const answers = [await auditGateway(deps)]
  for (const { clientId } of clients) answers.push(await auditLedger(deps, clientId))
  return answers.flatMap((answer) =>
    answer.balanced === true ? [] : [`an audit says ${JSON.stringify(answer)}`],
  )
}
