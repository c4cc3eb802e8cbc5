/**
 * Goal: the console shows what is, however much changes, whatever answers late or not at all. Method: the machine's own
 * Chromium before a scripted gateway, whose answers and changes a test times.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { CHROMIUM, launchChromium, openPage } from './console-browser.ts'
import { startScriptedConsole } from './scripted-console.ts'

vi.setConfig({ testTimeout: 60_000 })

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

describe.skipIf(CHROMIUM === undefined)('the console in Chromium (skipped where there is none)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser.close())

  it('keeps up while 500 payments of another merchant arrive, one read at a time', async () => {
    const ANSWER_MS = 250
    let [amount, reads, inFlight, mostInFlight] = [1_000, 0, 0, 0]
    const gateway = await startScriptedConsole({
      answer: async ({ path }) => {
        if (path !== '/v1/payments') return NOW
        const list = listOf(amount)
        reads += 1
        mostInFlight = Math.max(mostInFlight, ++inFlight)
        await sleep(ANSWER_MS)
        inFlight -= 1
        return list
      },
    })
    onTestFinished(gateway.close)
    const { page, close } = await openPage(browser)
    onTestFinished(close)
    await page.goto(`${gateway.url}/console`)
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

  it('shows the gateway that a restart brings, and nothing of the one before', async () => {
    const of = (clientId: string, amount: number, port = 0) =>
      startScriptedConsole({
        port,
        clientId,
        answer: ({ path }) => (path === '/v1/payments' ? listOf(amount) : path === '/_local/clock' ? NOW : undefined),
      })
    const first = await of('client-1', 1_000)
    const { page, close } = await openPage(browser)
    onTestFinished(close)
    await page.goto(`${first.url}/console#payments/payment-of-1000`)
    await page.getByText('Rp 1,000').waitFor()
    await page.getByLabel('Your reference').fill('order of the dead gateway')
    first.tell({ at: NOW.now, subject: 'payment', tone: 'good', text: 'told by the dead gateway' })
    await page.getByText('told by the dead gateway').waitFor()

    await first.close()
    await page.getByText('not connected').waitFor()
    const second = await of('client-2', 2_000, Number(new URL(first.url).port))
    onTestFinished(second.close)

    await page.getByText('Rp 2,000').waitFor()
    await page.getByText('Merchant client-2').waitFor()
    await eventually(async () => {
      const left = ['Rp 1,000', 'told by the dead gateway', 'client-1'].map((text) => page.getByText(text).count())
      expect(await Promise.all(left)).toStrictEqual([0, 0, 0])
    })
    expect(await page.getByLabel('Your reference').inputValue()).toBe('')
    expect(new URL(page.url()).hash).toBe('#payments')
  })
})
