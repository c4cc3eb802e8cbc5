import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandOf } from '../../infra/local/process/process-record.ts'
import { describeOnDynamoDb } from '../support/dynamodb.ts'
import { eventually } from '../support/eventually.ts'
import { machineWith } from '../support/machine-with.ts'
import { type Banner, type GatewayStart, readBanner, startGatewayProcess } from '../support/start-gateway-process.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { VA } from './gateway-world.ts'

/*
 * The gateway as people run it: a process that starts, is interrupted, killed, and started again on its data. What must
 * hold after each: no process is left, no port is taken, and no payment is doubled or lost.
 */

/** In which a gateway would look for its parent a few times, and end. */
const SEVERAL_LOOKS_MS = 1_000

/** `npm start` as a process of its own, gone when the test is over, also when the test fails before it came to its end. */
const spawnGateway = (start?: GatewayStart) => {
  const gateway = startGatewayProcess(start)
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  return gateway
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )

const gone = (pid: number) => eventually(() => expect(commandOf(pid)).toBeUndefined())

const post = async (url: string, body: object, headers: Record<string, string> = {}) => {
  const init = {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  }
  const answer = await fetch(url, init)
  return { status: answer.status, body: Object(await answer.json()) as Record<string, unknown> }
}

const createPayment = ({ api, apiKey }: Banner, key: string) =>
  post(`${api}/v1/payments`, VA, { authorization: `Bearer ${apiKey}`, 'idempotency-key': key })

const advance = ({ lambda }: Banner, seconds: number) => post(`${lambda}/_local/clock`, { advance_seconds: seconds })

const providerCreates = async ({ provider }: Banner): Promise<number> =>
  Object(await (await fetch(`${provider}/_simulator/calls`)).json())['POST /v3/payment_requests'] ?? 0

/** A data directory, as the arguments that name it. */
const onData = (data = tempDirectory()) => ({ args: ['--data', data] })

describe('stopping the gateway (design section 6)', () => {
  it('ends on SIGINT during load with no process left and its ports free', async () => {
    const gateway = spawnGateway()
    const banner = await gateway.ready()
    const load = Promise.allSettled(Array.from({ length: 100 }, (_, n) => createPayment(banner, `load-${n}`)))

    expect(await gateway.end('SIGINT')).toStrictEqual([0, null])
    await load

    await gone(banner.tablePid)
    for (const url of [banner.api, banner.lambda, banner.provider, banner.inbox]) {
      expect([url, await answers(url)]).toStrictEqual([url, false])
    }
  })

  it('says which port is taken and leaves nothing behind', async () => {
    const occupant = createServer()
    await new Promise<void>((resolve) => occupant.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void occupant.close())
    const { port } = occupant.address() as AddressInfo

    const gateway = spawnGateway({ port })

    expect(await gateway.exited).toStrictEqual([1, null])
    expect(gateway.output()).toContain(`port ${port} is taken`)
  })
})

it('a gateway that npm started lives as long as npm, whatever becomes of the script that started npm', async () => {
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
  await expect.poll(() => answers(banner.api)).toBe(false)
})

describe('a data directory that cannot be made', () => {
  const impossible = ['/dev/null/data', ...(process.platform === 'linux' ? ['/proc/data'] : [])]

  it.each([
    // Not the current one when its name is empty, as of a variable that is not set.
    ['', 2, '--data needs a value'],
    ...impossible.map((data) => [data, 1, `the data directory ${data} cannot be made or written`] as const),
  ] as const)('is named in what the gateway says before it exits: %j', async (data, code, message) => {
    const gateway = spawnGateway(onData(data))

    expect(await gateway.exited).toStrictEqual([code, null])
    expect(gateway.output()).toContain(message)
  })
})

describe('the table of the gateway (design section 6)', () => {
  it('is in memory on a machine with neither Java nor Docker, and the banner says so', async () => {
    machineWith({})
    const gateway = spawnGateway()

    const banner = await gateway.ready()

    expect(gateway.output()).toContain('in the memory of this process: neither Java 17 nor Docker on this machine')
    expect((await createPayment(banner, 'in-memory')).status).toBe(201)
  })

  it.each([
    [
      1,
      '--data DIR',
      'a table in memory cannot be kept; install Java 17 or newer (JAVA_HOME or PATH), or start Docker',
    ],
    [1, '--table dynamodb', 'install Java 17 or newer (JAVA_HOME or PATH), or start Docker, or leave out --table'],
    [2, '--data DIR --table memory', 'a table in memory cannot be kept; leave out --data, or --table memory'],
    [2, '--table paper', '--table takes memory or dynamodb'],
  ])('exits with %i and says what to do when it cannot be as asked: %s', async (code, asked, message) => {
    machineWith({})
    const gateway = spawnGateway({ args: asked.replace('DIR', tempDirectory()).split(' ') })

    expect(await gateway.exited).toStrictEqual([code, null])
    expect(gateway.output()).toContain(message)
  })
})

const onDynamoDb = await describeOnDynamoDb()

onDynamoDb('a data directory and its gateway (design section 6)', () => {
  it('ends on SIGTERM while it is starting, with its data directory free again', async () => {
    const data = onData()
    const interrupted = spawnGateway(data)
    await eventually(() => expect(interrupted.output()).toContain('Starting'))

    const [code] = await interrupted.end('SIGTERM')
    const next = spawnGateway(data)
    const { tablePid } = await next.ready()
    await next.end('SIGTERM')

    expect(code).toBe(0)
    expect(interrupted.output()).not.toContain('Try it')
    await gone(tablePid)
  })

  it('refuses a data directory that another gateway uses, which goes on', async () => {
    const data = onData()
    const first = spawnGateway(data)
    const banner = await first.ready()

    const second = spawnGateway(data)

    expect(await second.exited).toStrictEqual([1, null])
    expect(second.output()).toContain(`is in use by another gateway (process ${first.pid})`)
    expect((await createPayment(banner, 'still-there')).status).toBe(201)
    await first.end('SIGINT')
  })
})

onDynamoDb('a gateway killed and started again on its data (design section 6)', () => {
  it('keeps client, payments, clock and provider, and leaves no DynamoDB Local behind', async () => {
    const data = onData()
    const first = spawnGateway(data)
    const before = await first.ready()
    await advance(before, 3_600)
    const created = await createPayment(before, 'kept')
    // At once: what was answered must be kept.
    await first.end('SIGKILL')
    await gone(before.tablePid)

    const second = spawnGateway(data)
    const after = await second.ready()
    const replayed = await createPayment(after, 'kept')
    const { now } = Object(await (await fetch(`${after.lambda}/_local/clock`)).json())
    const creates = await providerCreates(after)
    await second.end('SIGINT')

    expect(after.apiKey).toBe(before.apiKey)
    expect([replayed.status, replayed.body['id']]).toStrictEqual([200, created.body['id']])
    expect(Date.parse(now) - Date.now()).toBeGreaterThan(3_500_000)
    expect(creates).toBeLessThanOrEqual(1)
  })
})
