import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../support/eventually.ts'
import type { Banner } from '../support/start-gateway-process.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { spawnGateway } from './gateway-process.ts'

/*
 * Goal: what was being delivered when the gateway was killed is sent again soon, once (spec 6.4, design section 4).
 * Method: twenty deliveries to each of ten endpoints that keep every request waiting, a SIGKILL, and a new gateway on
 * the same data, on the one clock. The kill comes before the first of them has waited for its ten seconds, so on a slow
 * machine fewer than 200 are in flight.
 */

type Delivery = { readonly delivery_id: string; readonly attempts: readonly { at: string; error: string | null }[] }

const FULL_MS = 7_000

const post = async (url: string, body: object) =>
  Object(await (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json())

const admin = async ({ lambda }: Banner, action: string, payload: object) =>
  (await post(`${lambda}/2015-03-31/functions/gateway-local-${action}/invocations`, payload)).body

/** Lets the one clock reach that time, if it has not. */
const passUntil = async ({ lambda }: Banner, epochMs: number) => {
  const { now } = Object(await (await fetch(`${lambda}/_local/clock`)).json())
  const seconds = Math.ceil((epochMs - Date.parse(now)) / 1_000)
  if (seconds > 0) await post(`${lambda}/_local/clock`, { advance_seconds: seconds })
}

/** A merchant who reads and says nothing until told to. */
const startMerchant = async () => {
  const merchant = { posts: [] as string[], hangs: true, url: '', heardAt: Infinity }
  const server = createServer((request, response) => {
    merchant.posts.push(String(request.headers['x-gateway-delivery-id']))
    merchant.heardAt = Math.min(merchant.heardAt, Date.now())
    if (!merchant.hangs) response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  merchant.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  return merchant
}

it('sends up to 200 deliveries that were in flight at a SIGKILL again within 75 s of their attempts', async () => {
  const args = ['--data', tempDirectory()]
  const merchant = await startMerchant()
  const first = spawnGateway({ args })
  const before = await first.ready()
  const [, client_id] = /^gk_local_([^_]+)_/.exec(before.apiKey) ?? []
  const caller = { client_id, operator: 'test' }
  const registered = await Promise.all(
    Array.from({ length: 10 }, () =>
      admin(before, 'register-endpoint', { ...caller, url: merchant.url, event_types: ['*'] }),
    ),
  )
  const targets = registered.flatMap(({ endpoint_id }) =>
    Array.from({ length: 20 }, () => ({ ...caller, endpoint_id })),
  )
  await Promise.all(targets.map((target) => admin(before, 'send-test-event', target)))
  await eventually(() => expect(merchant.posts.length === 200 || Date.now() - merchant.heardAt > FULL_MS).toBe(true))
  await first.end('SIGKILL')
  const inFlight = new Set(merchant.posts.splice(0))
  merchant.hangs = false

  const after = await spawnGateway({ args }).ready()
  const deliveries = async (): Promise<readonly Delivery[]> => {
    const pages = [1, 2].map((page) => admin(after, 'list-deliveries', { client_id, per_page: 100, page }))
    const all: readonly Delivery[] = (await Promise.all(pages)).flatMap(({ data }) => data)
    return all.filter(({ delivery_id: id }) => inFlight.has(id))
  }
  const attemptsMade = async (attempts: number) =>
    eventually(async () => expect((await deliveries()).filter((one) => one.attempts.length !== attempts)).toEqual([]))
  const claimed = Date.now()
  await passUntil(after, claimed + 30_000)
  await attemptsMade(1)
  const madeAt = (await deliveries()).map(({ attempts }) => Date.parse(attempts[0]?.at ?? ''))
  await passUntil(after, Math.max(...madeAt) + 60_000)
  await attemptsMade(2)

  const waited = (await deliveries()).map(({ attempts: [lost, next] }) => [
    lost?.error,
    next?.error,
    Date.parse(next?.at ?? '') - Date.parse(lost?.at ?? '') <= 75_000,
  ])
  expect(new Set(waited.map(String))).toStrictEqual(new Set(['unknown,,true']))
  expect(inFlight.size).toBeGreaterThan(0)
  expect(merchant.posts.filter((id) => inFlight.has(id)).toSorted()).toStrictEqual([...inFlight].toSorted())
}, 120_000)
