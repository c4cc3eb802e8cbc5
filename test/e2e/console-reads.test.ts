/**
 * Goal: the console shows the current state, despite many changes, late answers and lost ones. Method: the machine's own
 * Chromium on a scripted gateway; each test times its answers and changes.
 */
import type { Browser } from 'playwright-core'
import { it as base, expect, vi } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { aBrowser, CHROMIUM, describeInChromium, openPage } from './console-browser.ts'
import { type Script, startScriptedConsole } from './scripted-console.ts'

vi.setConfig({ testTimeout: 60_000 })

const it = base.extend('path', { scope: 'file' }, CHROMIUM).extend('browser', { scope: 'file' }, aBrowser)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const aPayment = (amount: number) => ({
  id: `payment-of-${amount}`,
  status: 'succeeded',
  method: 'qris',
  notional_minor: amount,
  created_at: '2026-11-23T10:00:00.000Z',
})

const listOf = (...amounts: readonly number[]) => ({
  data: amounts.map(aPayment),
  pagination: { page: 1, per_page: 12, total: amounts.length, total_pages: 1 },
})

const NOW = { now: '2026-11-23T10:00:00.000Z' }

/** The console's page before a gateway that answers so. */
const scripted = async (browser: Browser, answer: Script['answer']) => {
  const gateway = await startScriptedConsole({ answer })
  const { page } = await openPage(browser)
  await page.goto(`${gateway.url}/console`)
  return { gateway, page }
}

describeInChromium(() => {
  it('keeps up while 500 payments of another merchant arrive, one read at a time', async ({ browser }) => {
    const ANSWER_MS = 250
    let [amount, reads, inFlight, mostInFlight] = [1_000, 0, 0, 0]
    const { gateway, page } = await scripted(browser, async ({ path }) => {
      if (path !== '/v1/payments') return NOW
      const list = listOf(amount)
      reads += 1
      mostInFlight = Math.max(mostInFlight, ++inFlight)
      await sleep(ANSWER_MS)
      inFlight -= 1
      return list
    })
    await page.getByText('Rp 1,000').waitFor()

    let arrived = 0
    const changes = (async () => {
      for (; arrived < 500; arrived++) {
        gateway.tell({ at: NOW.now, subject: 'payment', tone: 'good', text: `payment ${arrived} of another merchant` })
        await sleep(10)
      }
    })()
    await sleep(500)
    amount = 2_000
    await page.getByText('Rp 2,000').waitFor()
    const arrivedThen = arrived
    await changes

    expect(arrivedThen).toBeLessThan(400)
    expect(mostInFlight).toBe(1)
    expect(reads).toBeLessThan(30)
  })

  it('shows the gateway that a restart brings, and nothing of the one before', async ({ browser }) => {
    const of = (clientId: string, amount: number, port = 0) =>
      startScriptedConsole({
        port,
        clientId,
        answer: ({ path }) => (path === '/v1/payments' ? listOf(amount) : path === '/_local/clock' ? NOW : undefined),
      })
    const first = await of('client-1', 1_000)
    const { page } = await openPage(browser)
    await page.goto(`${first.url}/console#payments/payment-of-1000`)
    await page.getByText('Rp 1,000').waitFor()
    await page.getByLabel('Your reference').fill('order of the dead gateway')
    first.tell({ at: NOW.now, subject: 'payment', tone: 'good', text: 'told by the dead gateway' })
    await page.getByText('told by the dead gateway').waitFor()

    await first.close()
    await page.getByText('not connected').waitFor()
    await of('client-2', 2_000, Number(new URL(first.url).port))

    await page.getByText('Rp 2,000').waitFor()
    await page.getByText('Merchant client-2').waitFor()
    await eventually(async () => {
      const left = ['Rp 1,000', 'told by the dead gateway', 'client-1'].map((text) => page.getByText(text).count())
      expect(await Promise.all(left)).toStrictEqual([0, 0, 0])
    })
    expect(await page.getByLabel('Your reference').inputValue()).toBe('')
    expect(new URL(page.url()).hash).toBe('#payments')
  })

  it('says apart that an answer is waited for, that there is nothing, and that nothing answers', async ({
    browser,
  }) => {
    const { promise: mayAnswer, resolve: answerNow } = Promise.withResolvers<void>()
    const { gateway, page } = await scripted(browser, async ({ path }) => {
      await mayAnswer
      return path === '/v1/payments' ? listOf() : NOW
    })
    const payments = page.getByRole('region', { name: 'Payments' })
    const states = ['Loading…', 'None yet.', 'The gateway does not answer.']
    const shown = () => Promise.all(states.map((text) => payments.getByText(text).count()))

    await eventually(async () => expect(await shown()).toStrictEqual([1, 0, 0]))
    answerNow()
    await eventually(async () => expect(await shown()).toStrictEqual([0, 1, 0]))
    await gateway.close()
    await eventually(async () => expect(await shown()).toStrictEqual([0, 1, 1]))
    await payments.getByText('What follows is its last answer.').waitFor()
  })
})
