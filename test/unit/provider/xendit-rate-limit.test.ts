import { describe, expect, it } from 'vitest'
import type { Provider } from '../../../shared/provider/provider.ts'
import { waitForProvider } from '../../../shared/provider/wait-for-provider.ts'
import type { Script } from '../../support/scripted-server.ts'
import { testDeps } from '../../support/test-deps.ts'
import { scriptedProvider } from '../../support/xendit-provider.ts'

/** An answer with the headers of the provider's rate limit, spelt as its documents do. */
const limited =
  (status: number, remaining: string, reset: string): Script =>
  (response) =>
    response
      .writeHead(status, { 'Rate-Limit-Limit': '60', 'Rate-Limit-Remaining': remaining, 'Rate-Limit-Reset': reset })
      .end(JSON.stringify({ has_more: false, data: [] }))

const list = (provider: Provider) => provider.listTransactions({ limit: 1 }, 5_000)

describe('the provider’s Rate-Limit headers', () => {
  it.each<[string, number, Script]>([
    ['room left', 0, limited(200, '59', '60')],
    ['none left', 12_250, limited(200, '0', '12.25')],
    ['429', 3_000, limited(429, '0', '3')],
    ['429 although some are left', 3_000, limited(429, '7', '3')],
    ['a reset in no time', 500, limited(429, '0', '0')],
    ['a reset past every window', 120_000, limited(429, '0', '86400')],
    ['no number', 0, limited(429, 'none', 'soon')],
    ['a negative number', 0, limited(429, '0', '-3')],
    ['Retry-After alone', 7_000, (response) => response.writeHead(429, { 'Retry-After': '7' }).end('{}')],
    ['Retry-After with another answer', 0, (response) => response.writeHead(503, { 'Retry-After': '7' }).end('{}')],
    ['no headers', 0, (response) => response.writeHead(429).end('{}')],
  ])('are read after an answer, %s: a pause of %d ms', async (_case, pauseMs, script) => {
    const { provider } = await scriptedProvider(script, () => 1_000_000)

    await list(provider)

    expect(provider.pauseMs('listTransactions')).toBe(pauseMs)
  })

  it('pause the operation they were about, until their time is over', async () => {
    let now = 1_000_000
    const { provider } = await scriptedProvider(limited(200, '0', '10'), () => now)

    await list(provider)
    const others = (['createRequest', 'getRequest', 'getPayment', 'cancelRequest'] as const).map(provider.pauseMs)
    now += 9_999
    const before = provider.pauseMs('listTransactions')
    now += 1

    expect([...others, before, provider.pauseMs('listTransactions')]).toStrictEqual([0, 0, 0, 0, 1, 0])
  })

  it('say how many calls are left, until their time is over', async () => {
    let now = 1_000_000
    const { provider } = await scriptedProvider(limited(200, '7', '10'), () => now)
    const said = [provider.callsLeft('listTransactions')]

    await list(provider)
    said.push(provider.callsLeft('listTransactions'), provider.callsLeft('createRequest'))
    now += 10_000

    expect([...said, provider.callsLeft('listTransactions')]).toStrictEqual([undefined, 7, undefined, undefined])
  })

  it('are over when an answer says that there is room', async () => {
    const answers = [limited(200, '0', '60'), limited(200, '5', '60')]
    const { provider } = await scriptedProvider((response, request) => answers.shift()?.(response, request))

    await list(provider)
    await list(provider)

    expect(provider.pauseMs('listTransactions')).toBe(0)
  })
})

describe('waitForProvider', () => {
  it.each([
    ['goes on at once while there is room', 0, true, 0],
    ['sleeps through a pause', 900, true, 900],
    ['gives up where the pause leads past the deadline', 1_000, false, 0],
  ])('%s', async (_case, pauseMs, allowed, waitedMs) => {
    const deps = testDeps()
    deps.provider.script('pauseMs', (operation) => (operation === 'getPayment' ? pauseMs : 0))
    const startedMs = deps.monotonicMs()

    expect(await waitForProvider(deps, ['getRequest', 'getPayment'], startedMs + 1_000)).toBe(allowed)
    expect(deps.monotonicMs() - startedMs).toBe(waitedMs)
  })
})
