import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStateFile } from '../../../infra/local/provider-simulator/state-file.ts'
import { createStore } from '../../../infra/local/provider-simulator/store.ts'
import {
  API_HEADERS,
  aCore,
  aRequestBody,
  aSimulator,
  CALLBACK_TOKEN,
  SECRET_KEY,
  spawnModule,
} from '../../support/provider-simulator-harness.ts'

type Created = { payment_request_id: string }
type Request = { status: string; latest_payment_id: string }

let directory = ''
let stateFile = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'provider-simulator-'))
  stateFile = join(directory, 'simulator', 'state.jsonl')
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('a snapshot of the provider simulator', () => {
  it('is plain JSON from which another core goes on with the same objects, faults and counts', () => {
    const first = aCore()
    const { payment_request_id: id } = first.core.createPaymentRequest(aRequestBody('QRIS'))
    first.core.simulatePayment(id)
    first.core.orderFault({ target: 'create', fault: 'slow', value: 5, times: 3 })
    first.core.takeCallFault('create')
    first.core.countCall('GET /transactions')

    const restored = aCore({ restored: JSON.parse(JSON.stringify(first.core.snapshot())) })

    expect(restored.core.snapshot()).toStrictEqual(first.core.snapshot())
    expect(restored.core.getPaymentRequest(id)).toStrictEqual(first.core.getPaymentRequest(id))
    expect(restored.core.listTransactions(new URLSearchParams())).toStrictEqual(
      first.core.listTransactions(new URLSearchParams()),
    )
    expect(restored.core.armedFaults()).toStrictEqual([{ target: 'create', fault: 'slow', value: 5, times: 2 }])
    expect(restored.core.callCounts()).toStrictEqual({ 'GET /transactions': 1 })
  })

  it('carries on expiries, settlements and callback retries', async () => {
    const first = aCore()
    first.receiver.status = 500
    const open = first.core.createPaymentRequest(aRequestBody('DANA')).payment_request_id
    const paid = first.core.createPaymentRequest(aRequestBody()).payment_request_id
    first.core.simulatePayment(paid)
    await first.advance(60)

    const { core, advance, callbacks } = aCore({ restored: first.core.snapshot(), start: '2026-11-20T04:11:00.000Z' })
    await advance(240)
    const settled = core.listTransactions(new URLSearchParams()).data[0]?.settlement_status
    const retriedEarly = callbacks.length
    await advance(660)
    const retried = callbacks.map(({ headers }) => headers['webhook-id'])
    await advance(86_400)

    expect([settled, retriedEarly]).toStrictEqual(['SETTLED', 0])
    expect(retried).toStrictEqual([first.callbacks[0]?.headers['webhook-id']])
    expect(core.getPaymentRequest(open).status).toBe('EXPIRED')
  })

  it('sends a callback again whose outcome was not recorded, shortly after the restart', async () => {
    const first = aCore()
    first.core.simulatePayment(first.core.createPaymentRequest(aRequestBody()).payment_request_id)

    const { advance, callbacks } = aCore({ restored: first.core.snapshot() })
    await advance(2)
    const early = callbacks.length
    await advance(1)

    expect([early, callbacks.length]).toStrictEqual([0, 1])
  })

  it('does not repeat a virtual account number', () => {
    const first = aCore()
    const before = first.core.createPaymentRequest(aRequestBody()).actions[0]?.value

    const restored = aCore({ restored: first.core.snapshot() })

    expect(restored.core.createPaymentRequest(aRequestBody()).actions[0]?.value).not.toBe(before)
  })

  it('equals what the saved changes add up to, whatever happened', async () => {
    const first = aCore()
    for (const channel of ['OVO', 'DANA', 'QRIS']) first.core.createPaymentRequest(aRequestBody(channel))
    const [, second, third] = first.core.findPaymentRequests('')
    first.core.simulatePayment(second?.payment_request_id ?? '')
    first.core.failPaymentRequest(third?.payment_request_id ?? '')
    await first.advance(3600)

    expect(createStore(first.saved).snapshot()).toStrictEqual(first.core.snapshot())
  })
})

describe('the state file of the provider simulator', () => {
  it('keeps everything over a restart', async () => {
    const before = await aSimulator({ stateFile })
    const { body } = await before.call<Created>('POST', '/v3/payment_requests', aRequestBody('QRIS'))
    await before.call('POST', `/v3/payment_requests/${body.payment_request_id}/simulate`)
    const [callback] = await before.receiver.waitFor(1)
    const paid = await before.call<Request>('GET', `/v3/payment_requests/${body.payment_request_id}`)
    await before.call('POST', '/_simulator/faults', { target: 'cancel', fault: 'http_500' })
    const calls = await before.call('GET', '/_simulator/calls')
    await before[Symbol.asyncDispose]()

    await using after = await aSimulator({ stateFile })

    expect((await after.call('GET', '/_simulator/calls')).body).toStrictEqual(calls.body)
    expect((await after.call('GET', `/v3/payment_requests/${body.payment_request_id}`)).body).toStrictEqual(paid.body)
    expect((await after.call('GET', `/v3/payments/${paid.body.latest_payment_id}`)).body).toStrictEqual(
      callback?.body.data,
    )
    expect((await after.call('GET', '/_simulator/faults')).body).toMatchObject([{ fault: 'http_500', times: 1 }])
  })

  it('loses nothing that was answered when the process is killed', async () => {
    const child = spawnSimulator(stateFile)
    const url = await child.url
    const created = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const init = { method: 'POST', headers: API_HEADERS, body: JSON.stringify(aRequestBody('DANA')) }
        const answer: Created = JSON.parse(await (await fetch(`${url}/v3/payment_requests`, init)).text())
        await fetch(`${url}/v3/payment_requests/${answer.payment_request_id}/simulate`, { ...init, body: '' })
        return answer.payment_request_id
      }),
    )
    child.process.kill('SIGKILL')
    await once(child.process, 'exit')

    await using after = await aSimulator({ stateFile })

    for (const id of created) {
      const request = await after.call<Request>('GET', `/v3/payment_requests/${id}`)
      expect(request.body.status).toBe('SUCCEEDED')
      expect((await after.call('GET', `/v3/payments/${request.body.latest_payment_id}`)).status).toBe(200)
    }
    // Nothing listened for the callbacks: they are retried on the provider's schedule, 15 minutes later.
    after.clock.advance(900)
    const callbacks = await after.receiver.waitFor(20)
    expect(new Set(callbacks.map(({ body }) => body.data['payment_request_id']))).toStrictEqual(new Set(created))
  })

  it('is left alone after close, whatever the clock does', async () => {
    const harness = await aSimulator({ stateFile })
    await harness.call('POST', '/v3/payment_requests', aRequestBody('OVO'))
    await harness.simulator.close()
    const closed = readFileSync(stateFile, 'utf8')

    harness.clock.advance(3600)

    expect(readFileSync(stateFile, 'utf8')).toBe(closed)
    await harness[Symbol.asyncDispose]()
  })

  it('drops a last line that was torn', async () => {
    const before = await aSimulator({ stateFile })
    await before.call('POST', '/v3/payment_requests', aRequestBody('QRIS'))
    await before[Symbol.asyncDispose]()
    appendFileSync(stateFile, '[{"table":"requests","id":"pr-torn","rec')

    const after = await aSimulator({ stateFile })
    await after.call('POST', '/v3/payment_requests', aRequestBody('QRIS'))
    await after[Symbol.asyncDispose]()
    await using again = await aSimulator({ stateFile })

    expect((await again.call<Created[]>('GET', '/_simulator/payment_requests')).body).toHaveLength(2)
  })

  it.each(['not json', '[{"table":"elsewhere","id":"1","record":null}]', '{}'])(
    'refuses to start on the unreadable line %s',
    (line) => {
      const file = join(directory, 'state.jsonl')
      writeFileSync(file, `[]\n${line}\n`)

      expect(() => openStateFile(file)).toThrow(`cannot read its state at ${file}:2`)
    },
  )

  it('is rewritten at the start to what is alive, and leaves no other file', async () => {
    const before = await aSimulator({ stateFile })
    for (let count = 0; count < 30; count++) await before.call('GET', '/transactions')
    await before[Symbol.asyncDispose]()
    const grown = readFileSync(stateFile, 'utf8').split('\n').length

    const after = await aSimulator({ stateFile })
    await after[Symbol.asyncDispose]()

    expect(grown).toBe(31)
    expect(readFileSync(stateFile, 'utf8').split('\n')).toHaveLength(2)
    expect(readdirSync(join(directory, 'simulator'))).toStrictEqual(['state.jsonl'])
  })
})

/** The simulator in a process of its own, so that it can be killed. Its callbacks go nowhere. */
const spawnSimulator = (file: string) => {
  const child = spawnModule(
    `
    import { startLocalClock } from '#local/process/local-clock.ts'
    import { startProviderSimulator } from '#local/provider-simulator/provider-simulator.ts'
    const simulator = await startProviderSimulator({
      clock: startLocalClock(), port: 0, secretKey: '${SECRET_KEY}', callbackToken: '${CALLBACK_TOKEN}',
      callbackUrl: () => 'http://127.0.0.1:1/', stateFile: process.env.STATE_FILE,
    })
    console.log(simulator.url)`,
    { STATE_FILE: file },
  )
  const url = once(child.stdout, 'data').then(([data]) => String(data).trim())
  return { process: child, url }
}
