/** Goal: the console works on a phone. Method: the machine's own Chromium taps on a screen of 390 px, on a whole gateway. */
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import {
  aBrowser,
  accessibilityFaults,
  CHROMIUM,
  describeInChromium,
  openConsole,
  VIEWS,
  view,
} from './console-browser.ts'
import { QRIS, worldIt } from './gateway-world.ts'

vi.setConfig({ testTimeout: 120_000 })

const it = worldIt.extend('path', { scope: 'file' }, CHROMIUM).extend('browser', { scope: 'file' }, aBrowser)

const JAKARTA_MS = 7 * 3_600_000

/** What is wider than the screen. */
const tooWide = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.skip'))
    .map((one) => one.outerHTML.slice(0, 200))`)

describeInChromium(() => {
  it('fits on a phone: nothing is wider, and a payment that was found and tapped comes into view', async ({
    world,
    browser,
  }) => {
    const { page } = await openConsole(browser, world.urls.api, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    })
    const reference = 'order-with-a-reference-that-never-ends-'.repeat(6)
    const { create, payment } = world.withKey(world.cloud.demoClient.api_key)
    const id = String((await create({ ...QRIS, amount: 65_432, external_reference: reference })).body['id'])
    await create({ ...QRIS, amount: 65_431 })
    await world.pay(id)
    await expect.poll(async () => (await payment(id))['status']).toBe('succeeded')

    const payments = page.getByRole('region', { name: 'Payments' })
    await payments.getByText('Search', { exact: true }).first().tap()
    await payments.getByLabel('Amount paid in IDR').fill('65432')
    const madeAt = Date.parse(String((await payment(id))['created_at']))
    await payments.getByLabel('Its day in Jakarta').fill(new Date(madeAt + JAKARTA_MS).toISOString().slice(0, 10))
    await page.keyboard.press('Enter')
    await expect.poll(() => payments.getByRole('listitem').count()).toBe(1)
    await payments.getByText('Rp 65,432').tap()
    const heading = page.getByRole('heading', { name: 'Payment of Rp 65,432' })
    await heading.waitFor()
    await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(200)
    const wide = [...(await tooWide(page)), ...(await accessibilityFaults(page))]
    for (const name of VIEWS) {
      await view(page, name)
      await page.getByText('Loading…').first().waitFor({ state: 'detached' })
      wide.push(...(await tooWide(page)))
    }
    await view(page, 'Webhooks')
    await page.getByRole('link', { name: 'payment.succeeded', exact: true }).first().tap()
    await page.getByText('x-gateway-signature').waitFor()
    wide.push(...(await tooWide(page)), ...(await accessibilityFaults(page)))
    await page.goto(`${world.urls.api}/console#money/entries`)
    await page.getByRole('heading', { name: 'Entries' }).waitFor()
    wide.push(...(await tooWide(page)), ...(await accessibilityFaults(page)))

    expect(wide).toStrictEqual([])
  })
})
