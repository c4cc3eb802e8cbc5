import { once } from 'node:events'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { openStateFile } from '../../../infra/local/provider-simulator/open-state-file.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { createStore } from '../../../infra/local/provider-simulator/simulator-store.ts'
import {
  API_HEADERS,
  aCore,
  aRequestBody,
  aSimulator,
  FINAL,
  simulatorIt as it,
  spawnModule,
} from '../../support/provider-simulator-harness.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const aStateFile = () => join(tempDirectory(), 'simulator', 'state.jsonl')

describe('a snapshot of the provider simulator', () => {
  it('is plain JSON, the sum of what was saved, from which another core goes on as this one', async ({ sim }) => {
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

  it('does not repeat a virtual account number', ({ sim }) => {
    const before = sim.core.createPaymentRequest(aRequestBody()).actions[0]?.value

    const { core } = aCore({ restored: sim.core.snapshot() })

    expect(core.createPaymentRequest(aRequestBody()).actions[0]?.value).not.toBe(before)
  })
})

describe('the state file of the provider simulator', () => {
  it('loses nothing that was answered when the process is killed', async () => {
    const stateFile = aStateFile()
    // Nothing listens for the callbacks.
    const child = spawnModule(
      `
      import { startLocalClock } from '#local/process/local-clock.ts'
      import { startProviderSimulator } from '#local/provider-simulator/provider-simulator.ts'
      const simulator = await startProviderSimulator({
        clock: startLocalClock(), port: 0, secretKey: '${PROVIDER_KEY}', callbackToken: '${CALLBACK_TOKEN}',
        callbackUrl: () => 'http://127.0.0.1:1/', stateFile: process.env.STATE_FILE,
      })
      console.log(simulator.url + '/v3/payment_requests')`,
      { STATE_FILE: stateFile },
    )
    const requests = String(await once(child.stdout, 'data')).trim()
    const post = async (url: string, body = '') =>
      Object(await (await fetch(url, { method: 'POST', headers: API_HEADERS, body })).json())
    const createPaid = async () => {
      const { payment_request_id: id } = await post(requests, JSON.stringify(aRequestBody('DANA')))
      await post(`${requests}/${id}/simulate`)
      return String(id)
    }
    const paid = await Promise.all(Array.from({ length: 20 }, createPaid))
    child.kill('SIGKILL')
    await once(child, 'exit')

    await using after = await aSimulator({ stateFile })

    for (const id of paid) {
      const { body } = await after.call('GET', `/v3/payment_requests/${id}`)
      expect(body['status']).toBe('SUCCEEDED')
      expect((await after.call('GET', `/v3/payments/${String(body['latest_payment_id'])}`)).status).toBe(200)
    }
    // The callbacks are retried on the provider's schedule, 15 minutes later.
    after.clock.advance(900)
    const callbacks = await after.receiver.waitFor(20)
    expect(new Set(callbacks.map(({ body }) => body.data['payment_request_id']))).toStrictEqual(new Set(paid))
  })

  it('is left alone after close, whatever the clock does', async () => {
    const stateFile = aStateFile()
    await using harness = await aSimulator({ stateFile })
    await harness.create('OVO')
    await harness.simulator.close()
    const closed = readFileSync(stateFile, 'utf8')

    harness.clock.advance(3600)

    expect(readFileSync(stateFile, 'utf8')).toBe(closed)
  })

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

  it.for(['not json', '[{"table":"elsewhere","id":"1","record":null}]', '{}'])(
    'refuses to start on the unreadable line %s',
    (line) => {
      const file = join(tempDirectory(), 'state.jsonl')
      writeFileSync(file, `[]\n${line}\n`)

      expect(() => openStateFile(file)).toThrow(`cannot read its state at ${file}:2`)
    },
  )

  it('is rewritten at the start to what is alive, and leaves no other file', async () => {
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
