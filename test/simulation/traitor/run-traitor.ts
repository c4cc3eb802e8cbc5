import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import { AccessDenied, grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import { text } from '../../support/recount/books.ts'
import { create } from '../histories/creates.ts'
import { pay } from '../histories/customers.ts'
import { startPlay } from '../histories/history.ts'
import { settle } from '../histories/operations.ts'
import type { Play } from '../histories/play.ts'
import { payOut, payOutNow } from '../scenes/money-operations.ts'
import { sellMany } from '../scenes/sell-many.ts'
import { type Process, startProcess } from '../world/process.ts'
import { rowsOf } from '../world/rows.ts'
import { simDeps } from '../world/sim-deps.ts'
import { count } from '../world/tally.ts'
import { runUntil, SIM_STAGE, type World } from '../world/world.ts'
import { drawWrite, writesOf } from './draw-write.ts'
import { misdirected } from './misdirected.ts'
import { movePayment } from './move-payment.ts'

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
export function facesStrangers(spec: FunctionSpec): boolean {
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
