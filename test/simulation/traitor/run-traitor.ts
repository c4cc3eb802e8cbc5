import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { AccessDenied, grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import { type ClientId, paymentIdFor, slotOf } from '../../../shared/ids.ts'
import { pkPrefix, shardKey } from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { exists, put, updateFields } from '../../../shared/table/step.ts'
import { amount, isOpen, text } from '../../support/recount/books.ts'
import { create } from '../histories/creates.ts'
import { pay } from '../histories/customers.ts'
import { startPlay } from '../histories/history.ts'
import { settle } from '../histories/operations.ts'
import type { Play } from '../histories/play.ts'
import { payOut, payOutNow } from '../scenes/money-operations.ts'
import { sellMany } from '../scenes/sell-many.ts'
import type { Prng } from '../world/prng.ts'
import { type Process, startProcess } from '../world/process.ts'
import { rowsOf } from '../world/rows.ts'
import { simDeps } from '../world/sim-deps.ts'
import { count } from '../world/tally.ts'
import { runUntil, SIM_STAGE, type World } from '../world/world.ts'
import { drawWrite, writesOf } from './draw-write.ts'
import { misdirected } from './misdirected.ts'

type TraitorOptions = {
  readonly seed: number
  readonly spec: FunctionSpec
  /**
   * Operators pay out only after an audit of every client. What functions write that no stranger
   * reaches must be found by then.
   */
  readonly audited?: boolean
}

const HOUR_MS = 3_600_000
const DAYS = 10

/**
 * A history in which one function writes all that its role allows, while merchants sell and
 * operators pay out. Returns the money of one client that was paid out to another, and the number
 * of audits that found a difference.
 */
export async function runTraitor({ seed, spec, audited = false }: TraitorOptions) {
  const play = await startPlay({ seed })
  const { world } = play
  const traitor = traitorOf(world, spec)
  const clients = watchPayments(world, traitor.process)
  for (const operation of [...SALES, ...SALES]) {
    if (!audited || operation !== payOut) await act(play, operation)
    if (world.scenePrng.chance(0.4)) await traitor.write()
    await world.scheduler.runFor(world.scenePrng.int(1, 90) * 60_000)
  }
  for (let day = 0; day < DAYS; day++) {
    if (day < 3) await traitor.write()
    await act(play, settle)
    // The daily audit is between.
    await world.scheduler.runFor(24 * HOUR_MS)
    if (!audited || day > 3) await act(play, payAll)
  }
  return {
    problems: [...misdirected(world, clients), ...traitor.problems],
    writes: traitor.writes(),
    tally: world.tally,
    imbalances: world.logLines.filter((line) => line.includes('audit.imbalance')).length,
  }
}

/** What merchants and the provider can reach: a stranger takes these functions over first. */
export function facesStrangers(spec: FunctionSpec) {
  const { trigger } = spec
  return isHttp(spec) || (trigger.kind === 'queue' && trigger.queue === 'webhooks')
}

const SALES = [
  (play: Play) => sellMany(play, play.world.prng.pick(play.tenants), true),
  create,
  pay,
  (play: Play) => sellMany(play, play.world.prng.pick(play.tenants)),
  pay,
  settle,
  payOut,
]

/** A forged row may make an action fail. Only the money that leaves counts. */
async function act(play: Play, operation: (play: Play) => Promise<unknown>) {
  await runUntil(
    play.world,
    operation(play).catch(() => undefined),
  )
}

async function payAll(play: Play) {
  for (const settlement of rowsOf(play.world, 'SETTLEMENT', { status: 'recorded' }))
    await payOutNow(play, settlement)
}

function traitorOf(world: World, spec: FunctionSpec) {
  const process = startProcess(world, spec.name, undefined, () => undefined)
  const deps = simDeps(world, () => process)
  const { table } = grantedDeps(SIM_STAGE, spec, deps)
  const grants = writesOf(spec)
  const problems: string[] = []
  let writes = 0
  const write = async () => {
    const prng = world.scenePrng
    const moves = prng.chance(0.3) ? movePayment(world, prng, spec) : []
    if (moves.length > 0) count(world.tally, 'traitor: a payment is moved')
    const single = grants.length > 0 ? drawWrite(world, prng, spec, prng.pick(grants)) : undefined
    for (const step of moves.length > 0 || single === undefined ? moves : [single]) {
      // The table refuses a few of them: no change, or an index attribute of another type.
      const written = table.write(step).catch((error: unknown) => {
        if (error instanceof AccessDenied) problems.push(`outside its role: ${error.message}`)
        return { applied: false }
      })
      if ((await runUntil(world, written)).applied) writes += 1
    }
  }
  return { process, problems, write, writes: () => writes }
}

/** Whose each payment is, by its first row, unless the traitor wrote that row. */
function watchPayments(world: World, traitor: Process) {
  const clients = new Map<string, string>()
  world.onChange.push(({ key, after }) => {
    if (key.sk !== 'PAYMENT' || after === undefined || world.acting === traitor) return
    const id = key.pk.slice('PAYMENT#'.length)
    if (!clients.has(id)) clients.set(id, text(after, 'owner') || text(after, 'client_id'))
  })
  return clients
}

/**
 * All writes that give a paid payment to another client so that the books still add up: payment,
 * both shards and events. Under its own id, or under a new id that fits the other client. Empty if
 * the role may not write them.
 */
function movePayment(world: Pick<World, 'table'>, prng: Prng, { table, updates }: FunctionSpec) {
  const mayMove = table.PutItem?.includes('PAYMENT') && updates.LEDGER?.includes('credited_minor')
  const payments = rowsOf(world, 'PAYMENT', { status: 'succeeded' }).filter(isOpen)
  if (!mayMove || payments.length === 0) return []
  const payment = prng.pick(payments)
  const owner = text(payment, 'owner')
  const others = world.table
    .items(pkPrefix('CLIENT'))
    .map(({ client_id: id }) => String(id))
    .filter((id) => id !== owner)
  if (others.length === 0) return []
  const other = prng.pick(others) as ClientId
  const digest = prng.bytes(16).toString('base64url')
  const id = text(payment, 'id')
  const newId = prng.chance(0.5) ? id : paymentIdFor(other, digest)
  const moved = { ...payment, owner: other, id: newId, ...(newId !== id && { key_digest: digest }) }
  const given = putAs(`PAYMENT#${newId}`, moved)
  const left = newId === id ? [] : [putAs(`PAYMENT#${id}`, { ...payment, status: 'failed' })]
  return [
    given,
    ...left,
    ...movedCredit(owner as ClientId, id, payment, -1),
    ...movedCredit(other, newId, payment, 1),
    ...movedEvents(world, { id, newId, other }),
  ]
}

function putAs(pk: string, item: StoredItem) {
  return put({ pk, sk: String(item['sk']) }, item)
}

function movedCredit(clientId: ClientId, id: string, payment: StoredItem, times: 1 | -1) {
  const credit = times * (amount(payment, 'net_minor') - amount(payment, 'taken_back_minor'))
  const add = { creditedMinor: credit, countSucceeded: times }
  return [updateFields(shardKey(clientId, slotOf(id, LEDGER_SHARDS)), { add }, exists)]
}

type Move = { readonly id: string; readonly newId: string; readonly other: string }

function movedEvents({ table }: Pick<World, 'table'>, { id, newId, other }: Move) {
  return table
    .items(`EVENT#payment#${id}`)
    .map((event) => putAs(`EVENT#payment#${newId}`, { ...event, owner: other }))
}
