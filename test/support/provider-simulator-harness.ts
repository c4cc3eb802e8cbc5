import { spawn } from 'node:child_process'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { onTestFinished } from 'vitest'
import { type LocalClock, startLocalClock } from '../../infra/local/process/local-clock.ts'
import type { SimulatorClock } from '../../infra/local/provider-simulator/agenda.ts'
import type { OutgoingCallback } from '../../infra/local/provider-simulator/callbacks.ts'
import { startProviderSimulator } from '../../infra/local/provider-simulator/provider-simulator.ts'
import { createSimulatorCore } from '../../infra/local/provider-simulator/simulator-core.ts'
import type { Change } from '../../infra/local/provider-simulator/store.ts'

export const SECRET_KEY = 'xnd_development_local'
export const CALLBACK_TOKEN = 'local-callback-token'
export const API_HEADERS = {
  authorization: `Basic ${Buffer.from(`${SECRET_KEY}:`).toString('base64')}`,
  'api-version': '2024-11-11',
  'content-type': 'application/json',
}

/** A valid create body for each kind of channel. */
export const aRequestBody = (channelCode = 'BNI_VIRTUAL_ACCOUNT', overrides: Record<string, unknown> = {}) => ({
  reference_id: '0b1f7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1',
  type: 'PAY',
  country: 'ID',
  currency: 'IDR',
  request_amount: 150_000,
  channel_code: channelCode,
  channel_properties: propertiesFor(channelCode),
  ...overrides,
})

const propertiesFor = (channelCode: string): Record<string, string> => {
  if (channelCode.endsWith('_VIRTUAL_ACCOUNT')) return { display_name: 'Toko Maju' }
  if (channelCode === 'OVO') return { account_mobile_number: '+6281234567890' }
  return channelCode === 'QRIS' ? {} : { success_return_url: 'https://merchant.example/done' }
}

/** A clock that stands still until it is advanced; a jump moves the time first and then runs what is due. */
export const aSimulatorClock = (start: string) => {
  let now = Date.parse(start)
  let timers: { readonly dueMs: number; readonly run: () => void }[] = []
  const clock: SimulatorClock & { advance(seconds: number): void; pending(): number } = {
    nowMs: () => now,
    at: (dueMs, run) => {
      const timer = { dueMs, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    advance: (seconds) => {
      now += seconds * 1000
      for (let due = nextDue(); due; due = nextDue()) {
        const taken = due
        timers = timers.filter((other) => other !== taken)
        taken.run()
      }
    },
    pending: () => timers.length,
  }
  const nextDue = () => timers.filter(({ dueMs }) => dueMs <= now).toSorted((a, b) => a.dueMs - b.dueMs)[0]
  return clock
}

export type ParsedCallback = {
  readonly headers: Readonly<Record<string, string>>
  readonly created: string
  readonly event: string
  readonly api_version: string
  readonly data: Readonly<Record<string, unknown>>
}

const parseCallback = ({ headers, body }: OutgoingCallback): ParsedCallback => ({ headers, ...JSON.parse(body) })

/** The core on a manual clock (a Friday morning in Jakarta), with counted ids and recorded callbacks. */
export const aCore = (options: { restored?: readonly Change[]; start?: string } = {}) => {
  const clock = aSimulatorClock(options.start ?? '2026-11-20T04:10:00.000Z')
  const callbacks: ParsedCallback[] = []
  const saved: Change[] = []
  const receiver: { status: number | 'unreachable' } = { status: 200 }
  let ids = options.restored ? 500_000 : 0
  const core = createSimulatorCore(
    {
      clock,
      newUuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
      baseUrl: () => 'http://127.0.0.1:3002',
      callbackToken: CALLBACK_TOKEN,
      sendCallback: (callback) => {
        callbacks.push(parseCallback(callback))
        const { status } = receiver
        return status === 'unreachable' ? Promise.reject(new Error('connection refused')) : Promise.resolve(status)
      },
      save: (changes) => saved.push(...changes),
    },
    options.restored,
  )
  /** Advances, and lets the outcomes of the callbacks sent meanwhile be recorded. */
  const advance = async (seconds: number) => {
    clock.advance(seconds)
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(0)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { core, clock, callbacks, saved, receiver, advance }
}

export type ReceivedCallback = {
  readonly headers: IncomingHttpHeaders
  readonly body: { readonly event: string; readonly data: Readonly<Record<string, unknown>> }
}

/** The port a listening server got. */
export const portOf = (server: Server) => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address.port
}

/** The merchant's side of the callbacks: a real server that records them and can be waited on. */
const startReceiver = async () => {
  const received: ReceivedCallback[] = []
  let waiting: (() => void)[] = []
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.setEncoding('utf8')
    incoming.on('data', (chunk: string) => {
      text += chunk
    })
    incoming.on('end', () => {
      received.push({ headers: incoming.headers, body: JSON.parse(text) })
      response.end()
      const woken = waiting
      waiting = []
      for (const wake of woken) wake()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${portOf(server)}/callbacks/xendit`,
    waitFor: async (count: number) => {
      while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
      return received
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export type ApiAnswer<T> = {
  readonly status: number
  readonly headers: Headers
  /** Empty when the answer is not JSON. */
  readonly body: T
  readonly text: string
}

/** The simulator as it is started locally, with a receiver for its callbacks. `await using` closes all of it. */
export const aSimulator = async (options: { stateFile?: string; clock?: LocalClock } = {}) => {
  const clock = options.clock ?? startLocalClock()
  const receiver = await startReceiver()
  const simulator = await startProviderSimulator({
    clock,
    port: 0,
    secretKey: SECRET_KEY,
    callbackUrl: () => receiver.url,
    callbackToken: CALLBACK_TOKEN,
    ...(options.stateFile === undefined ? {} : { stateFile: options.stateFile }),
  })

  /** One HTTP call; `T` is what the test expects the JSON body to look like. */
  const call = async <T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = API_HEADERS,
  ): Promise<ApiAnswer<T>> => {
    const sent = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const response = await fetch(simulator.url + path, {
      method,
      headers,
      redirect: 'manual',
      ...(sent === undefined ? {} : { body: sent }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json'
    const parsed: T = JSON.parse(isJson ? text : '{}')
    return { status: response.status, headers: response.headers, body: parsed, text }
  }

  return {
    clock,
    receiver,
    simulator,
    call,
    [Symbol.asyncDispose]: async () => {
      await simulator.close()
      receiver.close()
      clock.close()
    },
  }
}

/** Runs a module in a process of its own that does not outlive the test; `#local/` in it stands for the folder of the local gateway. */
export const spawnModule = (source: string, env: Readonly<Record<string, string>> = {}) => {
  const local = new URL('../../infra/local/', import.meta.url).href
  const script = source.replaceAll('#local/', local)
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}
