import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPrng, type Prng } from '../simulation/world/prng.ts'
import { comeToRest, operatorDay, runCallers } from './callers.ts'
import { type GatewayCalls, gatewayCalls } from './gateway-calls.ts'
import { historyRecorder } from './history-record.ts'
import { startKilledGateway } from './killed-gateway.ts'
import { type Client, planPayments } from './plan-payments.ts'

const CLIENTS = 3
const CALLERS = 12
const DAYS_AT = [0.5, 0.9]
const BETWEEN_KILLS_MS = [1_000, 8_000] as const
/**
 * A history ends after this many times its length, however little of that time the gateway was up
 * on a slow machine.
 */
const PATIENCE = 6

/** The gateway is up for so many seconds. The time of its restarts comes on top. */
export async function runHistory(seed: number, seconds: number) {
  const prng = createPrng(seed)
  const data = mkdtempSync(join(tmpdir(), 'gateway-history-'))
  const gateway = startKilledGateway(data)
  // Also when this process is killed during the run.
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
    const killNowAndThen = async (draw: Prng) => {
      while (!isOver()) {
        await gateway.up()
        await sleep(draw.int(...BETWEEN_KILLS_MS))
        if (!isOver()) await gateway.kill()
      }
    }
    const daysPass = async (draw: Prng) => {
      for (const at of DAYS_AT) {
        while (progress() < at) await sleep(100)
        await operatorDay(calls, clients, draw)
      }
    }
    const [known] = await Promise.all([
      runCallers({ calls, clients, isOver }, prng.fork(), CALLERS),
      killNowAndThen(prng.fork()),
      daysPass(prng.fork()),
    ])
    await comeToRest(calls, clients, known, recorder)
    return { records: recorder.records, kills: gateway.kills() }
  } finally {
    process.off('exit', end)
    await gateway.end()
    rmSync(data, { recursive: true, force: true })
  }
}

const BANK = { bank_name: 'BCA', bank_account_no: '1234567890', bank_account_name: 'History' }

async function addClient({ invoke }: GatewayCalls) {
  const operator = 'history'
  const client = await invoke('create-client', { operator, name: 'History', bank: BANK })
  const id = String(client?.body['client_id'])
  const issued = await invoke('issue-api-key', { operator, client_id: id })
  return { id, apiKey: String(issued?.body['api_key']), planned: planPayments() }
}
