import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPrng, type Prng } from '../simulation/world/prng.ts'
import { runCallers } from './callers.ts'
import { comeToRest } from './come-to-rest.ts'
import { type GatewayCalls, gatewayCalls } from './gateway-calls.ts'
import { type HistoryRecord, historyRecorder } from './history-record.ts'
import { type KilledGateway, startKilledGateway } from './killed-gateway.ts'
import { operatorDay } from './operator-day.ts'
import { type Client, planPayments } from './plan-payments.ts'

export type HistoryOptions = {
  readonly seed: number
  /** How long callers have a gateway that runs; how long it takes to start again is the machine's to say. */
  readonly seconds: number
  /** Whose gateway; this project's unless given. */
  readonly tree?: string | undefined
}

export type History = { readonly records: readonly HistoryRecord[]; readonly kills: number }

const CLIENTS = 3
const CALLERS = 12
/** An operator's days, as parts of the whole. */
const DAYS_AT = [0.5, 0.9]
const BETWEEN_KILLS_MS = [1_000, 8_000] as const
/** Of a machine that hardly comes to anything: so many times as long altogether. */
const PATIENCE = 6

const addClient = async ({ invoke }: GatewayCalls): Promise<Client> => {
  const operator = 'history'
  const client = await invoke('create-client', { operator, name: 'History' })
  const id = String(client?.body['client_id'])
  const issued = await invoke('issue-api-key', { operator, client_id: id })
  return { id, apiKey: String(issued?.body['api_key']), planned: planPayments() }
}

const killNowAndThen = async (gateway: KilledGateway, draw: Prng, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    await gateway.up()
    await sleep(draw.int(...BETWEEN_KILLS_MS))
    if (!isOver()) await gateway.kill()
  }
}

const daysPass = async (calls: GatewayCalls, clients: readonly Client[], draw: Prng, progress: () => number) => {
  for (const at of DAYS_AT) {
    while (progress() < at) await sleep(100)
    await operatorDay(calls, clients, draw)
  }
}

/**
 * One history: a gateway of its own whose process is killed now and then, callers side by side, operators' days, and a
 * rest at the end. The seed draws what is done and when it is killed; how calls meet is the machine's to say.
 */
export const runHistory = async ({ seed, seconds, tree }: HistoryOptions): Promise<History> => {
  const prng = createPrng(seed)
  const data = mkdtempSync(join(tmpdir(), 'gateway-history-'))
  const gateway = startKilledGateway(data, tree)
  // Also when this process is ended in the midst of it.
  const end = () => void gateway.end()
  process.once('exit', end)
  try {
    const recorder = historyRecorder()
    const calls = gatewayCalls(gateway, recorder)
    await gateway.up()
    const clients: Client[] = []
    for (let added = 0; added < CLIENTS; added++) clients.push(await addClient(calls))
    const from = performance.now()
    const upBefore = gateway.upMs()
    const progress = () => {
      const passedMs = Math.max(gateway.upMs() - upBefore, (performance.now() - from) / PATIENCE)
      return passedMs / (seconds * 1_000)
    }
    const isOver = () => progress() >= 1
    const [known] = await Promise.all([
      runCallers({ calls, clients, isOver }, prng.fork(), CALLERS),
      killNowAndThen(gateway, prng.fork(), isOver),
      daysPass(calls, clients, prng.fork(), progress),
    ])
    await comeToRest(calls, clients, known, recorder)
    return { records: recorder.records, kills: gateway.kills() }
  } finally {
    process.off('exit', end)
    await gateway.end()
    rmSync(data, { recursive: true, force: true })
  }
}
