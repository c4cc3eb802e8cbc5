import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { openStateFile } from '../../../infra/local/provider-simulator/open-state-file.ts'
import { createStore } from '../../../infra/local/provider-simulator/simulator-store.ts'
import { aCore, aSimulator, FINAL, simulatorIt as it } from '../../support/provider-simulator-harness.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const aStateFile = () => join(tempDirectory(), 'simulator', 'state.jsonl')

describe('a snapshot of the provider simulator', () => {
  it('is plain JSON of all that was saved, from which another core continues', async ({ sim }) => {
    sim.create('OVO')
    for (const status of FINAL) sim.end(sim.create('DANA'), status)
    sim.order('create', 'slow', 5, 3)
    sim.core.takeCallFault('create')
    sim.core.countCall('GET /transactions')
    await sim.advance(3600)
    const snapshot = sim.core.snapshot()

    const { core, rows } = aCore({ restored: JSON.parse(JSON.stringify(snapshot)) })

    expect(createStore(sim.saved).snapshot()).toStrictEqual(snapshot)
    expect(core.snapshot()).toStrictEqual(snapshot)
    expect(core.findPaymentRequests('')).toStrictEqual(sim.core.findPaymentRequests(''))
    expect(rows()).toStrictEqual(sim.rows())
    expect(core.armedFaults()).toStrictEqual([{ target: 'create', fault: 'slow', value: 5, times: 2 }])
    expect(core.callCounts()).toStrictEqual({ 'GET /transactions': 1 })
  })

  it('carries on expiries, settlements and callback retries', async ({ sim }) => {
    sim.receiver.status = 500
    const open = sim.create('DANA')
    sim.pay(sim.create())
    await sim.advance(60)

    const restored = aCore({ restored: sim.core.snapshot(), start: '2026-11-20T04:11:00.000Z' })
    await restored.advance(240)
    const settled = restored.rows()[0]?.settlement_status
    const retriedEarly = restored.callbacks.length
    await restored.advance(660)
    const retried = restored.callbacks.map(({ headers }) => headers['webhook-id'])
    await restored.advance(86_400)

    expect([settled, retriedEarly]).toStrictEqual(['SETTLED', 0])
    expect(retried).toStrictEqual([sim.callbacks[0]?.headers['webhook-id']])
    expect(restored.statusOf(open)).toBe('EXPIRED')
  })

  it('sends a callback again whose outcome was not recorded, shortly after the restart', async ({ sim }) => {
    sim.pay()

    const { advance, callbacks } = aCore({ restored: sim.core.snapshot() })
    await advance(2)
    const early = callbacks.length
    await advance(1)

    expect([early, callbacks.length]).toStrictEqual([0, 1])
  })
})

describe('the state file of the provider simulator', () => {
  it('drops a last line that was torn', async () => {
    const stateFile = aStateFile()
    const createOnce = async () => {
      await using simulator = await aSimulator({ stateFile })
      await simulator.create('QRIS')
    }
    await createOnce()
    appendFileSync(stateFile, '[{"table":"requests","id":"pr-torn","rec')
    await createOnce()

    await using again = await aSimulator({ stateFile })

    expect(await again.created()).toHaveLength(2)
  })

  it('refuses to start on a line that it cannot read', () => {
    const file = join(tempDirectory(), 'state.jsonl')
    writeFileSync(file, '[]\nnot json\n')

    expect(() => openStateFile(file)).toThrow(`${file}:2 cannot be read`)
  })

  it('is compacted at the start, and leaves no other file', async () => {
    const stateFile = aStateFile()
    const before = await aSimulator({ stateFile })
    for (let count = 0; count < 30; count++) await before.call('GET', '/transactions')
    await before.close()
    const grown = readFileSync(stateFile, 'utf8').split('\n').length

    await (await aSimulator({ stateFile })).close()

    expect(grown).toBe(31)
    expect(readFileSync(stateFile, 'utf8').split('\n')).toHaveLength(2)
    expect(readdirSync(dirname(stateFile))).toStrictEqual(['state.jsonl'])
  })
})
