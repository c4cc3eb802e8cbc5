import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { mapInChunks } from '../../shared/chunks.ts'
import { eventually } from '../support/eventually.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { type Banner, spawnGateway } from './gateway-process.ts'

/*
 * Goal: what was being delivered when the gateway was killed is sent again soon, once (spec 6.4, design section 4).
 * Method: twenty deliveries to each of ten endpoints that keep every request waiting, a SIGKILL, and a new gateway on
 * the same data, on the one clock.
 */

type Delivery = {
  readonly delivery_id: string
  readonly status: string
  readonly attempts: readonly { at: string; error: string | null }[]
}

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
  const merchant = { posts: [] as string[], hangs: true, url: '' }
  const server = createServer((request, response) => {
    merchant.posts.push(String(request.headers['x-gateway-delivery-id']))
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

it('sends 200 deliveries that were in flight at a SIGKILL again within 75 s of their attempts', async () => {
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
  const made = await mapInChunks(targets, 25, (target) => admin(before, 'send-test-event', target))
  expect(made.filter(({ delivery_id }) => delivery_id === undefined)).toStrictEqual([])
  await eventually(() => expect(merchant.posts).toHaveLength(200))
  await first.end('SIGKILL')
  const inFlight = new Set(merchant.posts.splice(0))
  merchant.hangs = false

  const after = await spawnGateway({ args }).ready()
  const deliveries = async (): Promise<readonly Delivery[]> => {
    const pages = [1, 2].map((page) => admin(after, 'list-deliveries', { client_id, per_page: 100, page }))
    return (await Promise.all(pages)).flatMap(({ data }) => data)
  }
  // Now and then: two hundred rows and their attempts are read each time.
  const allOf = (by: (one: Delivery) => boolean, are: (one: Delivery) => boolean) =>
    vi.waitFor(
      async () => {
        const found = (await deliveries()).filter(by)
        expect(found.filter((one) => !are(one))).toEqual([])
        return found
      },
      { timeout: 90_000, interval: 1_000 },
    )
  // On a busy machine the first ones have waited in vain before the last ones are sent: they were not in flight.
  const wasLost = ({ attempts: [cut] }: Delivery) => cut?.error === 'unknown'
  await passUntil(after, Date.now() + 30_000)
  const lostAt = (
    await allOf(
      () => true,
      ({ attempts }) => attempts.length > 0,
    )
  )
    .filter(wasLost)
    .map(({ attempts }) => Date.parse(attempts[0]?.at ?? ''))
  await passUntil(after, Math.max(...lostAt) + 60_000)
  const lost = await allOf(wasLost, ({ status }) => status === 'succeeded')

  const waitedMs = lost.map(({ attempts: [cut, next] }) => Date.parse(next?.at ?? '') - Date.parse(cut?.at ?? ''))
  expect(waitedMs.length).toBeGreaterThan(50)
  expect(waitedMs.filter((ms) => ms > 75_000)).toStrictEqual([])
  const ids = lost.map(({ delivery_id }) => delivery_id)
  expect(new Set(lost.map(({ attempts }) => attempts.length))).toStrictEqual(new Set([2]))
  expect(merchant.posts.filter((id) => ids.includes(id)).toSorted()).toStrictEqual(ids.toSorted())
  expect(inFlight.isSupersetOf(new Set(ids))).toBe(true)
}, 300_000)
