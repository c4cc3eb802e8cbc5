import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { commandOf } from '../../infra/local/process/process-record.ts'
import { eventually } from '../support/eventually.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { type Banner, readBanner, spawnGateway } from './gateway-process.ts'

/*
 * The gateway as people run it: a process that starts, is interrupted, killed, and started again on its data. What must
 * hold after each: no process is left, no port is taken, and no payment is doubled or lost.
 */

// Each test starts the gateway once or twice, on a machine that runs other tests beside it.
vi.setConfig({ testTimeout: 120_000 })

/** In which a gateway would look for its parent a few times, and end. */
const SEVERAL_LOOKS_MS = 1_000

const answers = async (url: string): Promise<boolean> => {
  try {
    await fetch(url)
    return true
  } catch {
    return false
  }
}

const gone = async (pid: number) => {
  await eventually(() => expect(commandOf(pid)).toBeUndefined())
}

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

const createPayment = async ({ api, apiKey }: Banner, key: string) => {
  const body = { method: 'virtual_account', channel_code: 'BCA', amount: 150_000, currency: 'IDR' }
  const answer = await post(`${api}/v1/payments`, body, {
    authorization: `Bearer ${apiKey}`,
    'idempotency-key': key,
  })
  return { status: answer.status, payment: (await answer.json()) as { id: string; status: string } }
}

const providerCreates = async ({ provider }: Banner): Promise<number> => {
  const calls = (await (await fetch(`${provider}/_simulator/calls`)).json()) as Record<string, number>
  return calls['POST /v3/payment_requests'] ?? 0
}

describe('stopping the gateway (design section 6)', () => {
  it('ends on SIGINT during load with no process left and its ports free', async () => {
    const gateway = spawnGateway()
    const banner = await gateway.ready()
    const load = Promise.allSettled(Array.from({ length: 100 }, (_, n) => createPayment(banner, `load-${n}`)))

    gateway.kill('SIGINT')
    const ended = await gateway.exited
    await load

    expect(ended).toStrictEqual([0, null])
    await gone(banner.tablePid)
    for (const url of [banner.api, banner.lambda, banner.provider, banner.inbox]) {
      expect([url, await answers(url)]).toStrictEqual([url, false])
    }
  })

  it('ends on SIGTERM while it is starting, with its data directory free again', async () => {
    const data = tempDirectory()
    const interrupted = spawnGateway({ args: ['--data', data] })
    await eventually(() => expect(interrupted.output()).toContain('Starting'))

    interrupted.kill('SIGTERM')
    const [code] = await interrupted.exited
    const next = spawnGateway({ args: ['--data', data] })
    const { tablePid } = await next.ready()
    next.kill('SIGTERM')
    await next.exited

    expect(code).toBe(0)
    expect(interrupted.output()).not.toContain('Try it')
    await gone(tablePid)
  })

  it('leaves no DynamoDB Local behind when it is killed', async () => {
    const gateway = spawnGateway()
    const { tablePid } = await gateway.ready()

    gateway.kill('SIGKILL')
    await gateway.exited

    await gone(tablePid)
  })

  it('says which port is taken and leaves nothing behind', async () => {
    const occupant = createServer()
    await new Promise<void>((resolve) => occupant.listen(0, '127.0.0.1', resolve))
    const address = occupant.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0

    const gateway = spawnGateway({ port })
    const ended = await gateway.exited

    expect(ended).toStrictEqual([1, null])
    expect(gateway.output()).toContain(`port ${port} is taken`)
    await new Promise((resolve) => occupant.close(resolve))
  })

  it('refuses a data directory that another gateway uses, which goes on', async () => {
    const data = tempDirectory()
    const first = spawnGateway({ args: ['--data', data] })
    const banner = await first.ready()

    const second = spawnGateway({ args: ['--data', data] })
    const ended = await second.exited

    expect(ended).toStrictEqual([1, null])
    expect(second.output()).toContain(`is in use by another gateway (process ${first.pid})`)
    expect((await createPayment(banner, 'still-there')).status).toBe(201)
    first.kill('SIGINT')
    await first.exited
  })
})

describe('a gateway that npm started', () => {
  it('lives as long as npm, whatever becomes of the script that started npm', async () => {
    const started = spawn('sh', ['-c', 'PORT=0 npm start 2>&1 & echo "npm $!"; read -r _'])
    let output = ''
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await eventually(() => expect(output).toContain('Try it'))
    const npm = Number(/^npm (\d+)$/m.exec(output)?.[1])
    onTestFinished(() => {
      if (commandOf(npm) !== undefined) process.kill(npm, 'SIGKILL')
    })
    const banner = readBanner(output)

    started.stdin.end()
    await once(started, 'exit')
    await sleep(SEVERAL_LOOKS_MS)
    const created = await createPayment(banner, 'orphaned')
    process.kill(npm, 'SIGKILL')

    expect(created.status).toBe(201)
    await gone(banner.tablePid)
    expect(await answers(banner.api)).toBe(false)
  })
})

describe('a data directory that cannot be made', () => {
  it('is not the current one when its name is empty, as of a variable that is not set', async () => {
    const gateway = spawnGateway({ args: ['--data', ''] })

    expect(await gateway.exited).toStrictEqual([2, null])
    expect(gateway.output()).toContain('--data needs a value')
  })

  it.each(['/dev/null/data', ...(process.platform === 'linux' ? ['/proc/data'] : [])])(
    'is named in what the gateway says before it exits: %s',
    async (data) => {
      const gateway = spawnGateway({ args: ['--data', data] })

      expect(await gateway.exited).toStrictEqual([1, null])
      expect(gateway.output()).toContain(`the data directory ${data} cannot be made or written`)
    },
  )
})

describe('a gateway killed and started again on its data (design section 6)', () => {
  it('keeps client, payments, clock and provider', async () => {
    const args = ['--data', tempDirectory()]
    const first = spawnGateway({ args })
    const before = await first.ready()
    const created = await createPayment(before, 'kept')
    await post(`${before.lambda}/_local/clock`, { advance_seconds: 3_600 })
    first.kill('SIGKILL')
    await first.exited

    const second = spawnGateway({ args })
    const after = await second.ready()
    const replayed = await createPayment(after, 'kept')
    const { now } = (await (await fetch(`${after.lambda}/_local/clock`)).json()) as { now: string }
    const creates = await providerCreates(after)
    second.kill('SIGINT')
    await second.exited

    expect(after.apiKey).toBe(before.apiKey)
    expect([replayed.status, replayed.payment.id]).toStrictEqual([200, created.payment.id])
    expect(Date.parse(now) - Date.now()).toBeGreaterThan(3_500_000)
    expect(creates).toBeLessThanOrEqual(1)
  })

  it('ends in one payment when it died between the provider’s answer and its own commit', async () => {
    const args = ['--data', tempDirectory()]
    const first = spawnGateway({ args })
    const before = await first.ready()
    // The provider commits at once and answers late: the kill comes while the gateway waits for that answer.
    await post(`${before.provider}/_simulator/faults`, { target: 'create', fault: 'slow', value: 10_000 })
    const lost = createPayment(before, 'interrupted').catch(() => 'cut off')
    await eventually(async () => expect(await providerCreates(before)).toBe(1))
    first.kill('SIGKILL')
    await first.exited
    const outcome = await lost

    const second = spawnGateway({ args })
    const after = await second.ready()
    // The dead attempt holds its lease of 30 s on the one clock.
    await post(`${after.lambda}/_local/clock`, { advance_seconds: 31 })
    const retried = await createPayment(after, 'interrupted')
    const repeated = await createPayment(after, 'interrupted')
    const list = await fetch(`${after.api}/v1/payments`, { headers: { authorization: `Bearer ${after.apiKey}` } })
    const { pagination } = (await list.json()) as { pagination: { total: number } }
    second.kill('SIGINT')
    await second.exited

    expect(outcome).toBe('cut off')
    expect([retried.status, repeated.status, pagination.total]).toStrictEqual([201, 200, 1])
    expect(repeated.payment.id).toBe(retried.payment.id)
  })
})
