/**
 * Goal: a newcomer sees a payment through to the merchant's bank in the console alone, is refused
 * nothing, and can say where the money is.
 */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  aBrowser,
  accessibilityFaults,
  CHROMIUM,
  chooseMerchant,
  describeInChromium,
  looksOf,
  openConsole,
  openView,
  press,
  takePicture,
} from './console-browser.ts'
import { BANK, QRIS, type World, worldIt } from './gateway-world.ts'

const it = worldIt
  .extend('path', { scope: 'file' }, CHROMIUM)
  .extend('browser', { scope: 'file' }, aBrowser)

/** Calls of the page that were refused, except questions: a dry run changes nothing. */
function watchRefusals(page: Page) {
  const refusals: string[] = []
  page.on('response', (response) => {
    const call = response.request().postData() ?? ''
    if (!response.url().endsWith('/console/call') || call.includes('"dry_run":true')) return
    const note = ({ status, body }: { status: number; body: unknown }) => {
      const inner = Number(Object(body).status)
      if (status >= 400 || inner >= 400) refusals.push(`${call}: ${JSON.stringify(body)}`)
    }
    // A read that the page still makes when the test ends has no answer.
    void response.json().then(note, () => undefined)
  })
  return refusals
}

function rupiah(minor: number) {
  return `Rp ${minor.toLocaleString('en-US')}`
}

/** The figures of the flow's table. */
async function placesOf(page: Page) {
  const rows = await page
    .getByRole('region', { name: 'Where the money is, table' })
    .locator('tbody tr')
    .all()
  const pairs = await Promise.all(
    rows.map(async (row) => [
      await row.locator('th').textContent(),
      await row.locator('td').textContent(),
    ]),
  )
  return Object.fromEntries(pairs)
}

function flow(page: Page) {
  return page.getByRole('region', { name: 'Where the money is', exact: true })
}

async function openTable(page: Page) {
  const details = flow(page).locator('details')
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click()
}

describeInChromium(() => {
  it.for(looksOf(1_440, 'light'))(
    'walks a payment from create to paid out without one refusal (%i px, %s)',
    async ([width, colorScheme], { world, browser }) => {
      const { page, problems } = await openConsole(browser, world, {
        viewport: { width, height: 900 },
        colorScheme,
      })
      const refusals = watchRefusals(page)
      const merchant = world.demo
      const faults: string[] = []
      const check = async () => void faults.push(...(await accessibilityFaults(page)))

      await openView(page, 'Payments')
      await page.getByLabel('Amount in IDR').fill('175000')
      await press(page, 'Create payment')
      await page.getByRole('heading', { name: 'Payment of Rp 175,000' }).waitFor()
      await page.getByText('Asked of the customer').waitFor()
      await press(page, 'Pay')
      await page.getByText('Webhook, attempt 1: answered 200').waitFor()
      await page.getByText('Paid by the customer').waitFor()
      await check()
      await openView(page, 'Money')
      await flow(page)
        .getByText(/^About Rp .* is settled by the sweep of/)
        .waitFor()
      await check()

      await settleEverything(page)
      await page.getByText('The merchant’s books balance.').waitFor()
      await check()
      if (width === 1_440 && colorScheme === 'light') await takePicture(page, 'console-money')
      await openTable(page)
      const { body: recorded } = await merchant.get('/v1/balance?include=settlements')
      await expect
        .poll(() => placesOf(page))
        .toMatchObject({ 'To be paid out': rupiah(Number(recorded['in_settlement_minor'])) })

      await markPaid(page)
      await press(page, 'Check the books')
      await page.getByText(/the books balance\.$/).waitFor()
      await check()
      const { body: balance } = await merchant.get('/v1/balance?include=settlements')
      const payments = (await merchant.get('/v1/payments?status=succeeded&per_page=100')).body
      const listed = payments['data'] as Record<string, number>[]
      const sumOf = (name: string) =>
        rupiah(listed.reduce((sum, payment) => sum + Number(payment[name]), 0))
      await expect
        .poll(() => placesOf(page))
        .toStrictEqual({
          'Paid by customers': sumOf('notional_minor'),
          'Provider’s fees': sumOf('xendit_fee_minor'),
          'Our markup': sumOf('hexolus_markup_minor'),
          'Given back': rupiah(0),
          Pending: rupiah(0),
          Available: rupiah(0),
          'To be paid out': rupiah(0),
          'Paid out': rupiah(Number(balance['paid_out_minor'])),
        })
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect([refusals, faults, problems, Math.max(0, wide)]).toStrictEqual([[], [], [], 0])
    },
  )

  it('walks the same day with the keyboard alone', async ({ world, browser }) => {
    const { page, problems } = await openConsole(browser, world)
    const refusals = watchRefusals(page)

    await tabTo(page, 'Payments')
    await page.keyboard.press('Enter')
    await page.getByLabel('Amount in IDR').waitFor()
    await tabTo(page, 'Create payment')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Payment of/ }).waitFor()
    await tabTo(page, 'Pay')
    await page.keyboard.press('Enter')
    await page.getByText('Webhook, attempt 1: answered 200').waitFor()
    await tabTo(page, 'Money')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Where the money is' }).waitFor()
    await tabTo(page, 'Settle everything now')
    await page.keyboard.press('Enter')
    await page.getByText('The books of the house balance.').waitFor()
    await page.getByRole('button', { name: /^Mark paid/ }).waitFor()
    await tabTo(page, 'Mark paid')
    await page.keyboard.press('Enter')
    await page.getByText(/^Mark paid: Rp [\d,]+ of 1 payment: manual paid$/).waitFor()

    expect([refusals, problems]).toStrictEqual([[], []])
  })

  it('shows deliveries by hour and outcome, and sends all missed ones again', async ({
    world,
    browser,
  }) => {
    const { page, problems } = await openConsole(browser, world)
    const merchant = world.demo
    await world.send(`${world.urls.inbox}/behaviour`, {
      method: 'POST',
      body: JSON.stringify({ status: 500 }),
    })
    const id = String(
      (await merchant.create({ method: 'qris', amount: 90_000, currency: 'IDR' })).body['id'],
    )
    await world.pay(id)
    await openView(page, 'Webhooks')
    const strip = page.getByRole('region', { name: 'A day of deliveries' })
    await strip.getByRole('img', { name: /scheduled 1/ }).waitFor()
    // Eight attempts take a little more than two hours.
    for (let attempt = 1; attempt < 8; attempt++) {
      await world.advance(65 * 60)
      await world.invoke('check-due-work')
      await expect.poll(async () => (await attemptsOf(world, id)).length).toBeGreaterThan(attempt)
    }
    await strip.getByRole('img', { name: /abandoned 1/ }).waitFor()
    expect(await accessibilityFaults(page)).toStrictEqual([])
    await world.send(`${world.urls.inbox}/behaviour`, { method: 'POST', body: '{}' })

    await strip.getByRole('button', { name: /^Resend all/ }).click()

    await strip.getByText('Resend all: 1 webhook sent again').waitFor()
    await strip.getByRole('img', { name: /abandoned 0/ }).waitFor()
    await strip.getByText('As a table').click()
    await strip.getByRole('columnheader', { name: 'abandoned' }).waitFor()
    expect(problems).toStrictEqual([])
  })

  it('draws nothing for a merchant without money, nor for one that owes, and says so', async ({
    world,
    browser,
  }) => {
    const { page } = await openConsole(browser, world)
    const { clientId, key } = await world.merchant()
    const { body } = await world
      .withKey(key)
      .create({ method: 'qris', amount: 50_000, currency: 'IDR' })

    await page.goto(`${world.urls.api}/console#payments/${String(body['id'])}`)
    await press(page, 'Expire')
    await page.getByText('The merchant asked for Rp 50,000. It was not paid.').waitFor()

    expect(await page.getByText('Paid by the customer').count()).toBe(0)
    await chooseMerchant(page, clientId)
    await openView(page, 'Money')
    await flow(page).getByText('No customer has paid yet.').waitFor()
    expect(await page.locator('svg.sankey').count()).toBe(0)
    await world.admin('update-client', { operator: 'test', client_id: clientId, bank: BANK })
    // Its key must outlive the jump of the clock.
    const paid = await world.withKey(key).create({ ...QRIS, amount: 60_000 })
    await world.pay(paid.body['id'])
    await settleEverything(page)
    await markPaid(page)
    await world.control(paid.body['id'], 'reverse', { kind: 'refund', amount: 50_000 })
    await world.invoke('sync-provider-transactions')
    await flow(page).getByText('the merchant owes Rp 50,000.').waitFor()
    await flow(page).getByText('Nothing waits.').waitFor()
    expect(await page.locator('svg.sankey').count()).toBe(0)
  })
})

async function settleEverything(page: Page) {
  await press(page, 'Settle everything now')
  await page.getByText(/^1 settlement, Rp [\d,]+ of 1 payment, to be paid out\.$/).waitFor()
  await page.getByText('The books of the house balance.').waitFor()
}

async function markPaid(page: Page) {
  await page.getByRole('button', { name: /^Mark paid/ }).click()
  await page.getByText(/^Mark paid: Rp [\d,]+ of 1 payment: manual paid$/).waitFor()
}

async function attemptsOf({ admin }: World, paymentId: string) {
  const { timeline } = Object((await admin('get-payment', { payment_id: paymentId })).body)
  return timeline.events[0]?.deliveries[0]?.attempts ?? []
}

/** Presses Tab until the control has the focus. Throws if no Tab stop has this name. */
async function tabTo(page: Page, name: string) {
  for (let presses = 0; presses < 300; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<string>(
      `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()`,
    )
    if (focused === name || focused.startsWith(`${name} `)) return
  }
  throw new Error(`no Tab stop is called ${name}`)
}
