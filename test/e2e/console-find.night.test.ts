/**
 * Goal: a person finds a payment, a merchant and a fault among many, and reads times without
 * counting hours.
 */
import { expect } from 'vitest'
import {
  chooseMerchant,
  describeInChromium,
  browserIt as it,
  openConsole,
  openPage,
  openView,
  press,
} from './console-browser.ts'
import { QRIS } from './gateway-world.ts'
import { startScriptedConsole } from './scripted-console.ts'

const NOW = '2026-11-23T18:30:00.000Z'
const HOUR_MS = 3_600_000

/** The numbers of a page of 100 rows. */
function numbersOf(page: number) {
  return Array.from({ length: 100 }, (_, at) => (page - 1) * 100 + at)
}

describeInChromium(() => {
  it('shows times of Jakarta with the zone, and the UTC time to a pointer', async ({
    world,
    browser,
  }) => {
    const { create } = world.demo
    const { body } = await create(QRIS)
    const at = String(body['created_at'])
    const inJakarta = new Date(Date.parse(at) + 7 * HOUR_MS).toISOString()
    const { page } = await openConsole(browser, world)

    await page.goto(`${world.urls.api}/console#payments/${String(body['id'])}`)
    await page.getByText('Created: Rp 100,000').waitFor()
    const time = page.getByRole('region', { name: 'Timeline' }).getByRole('time').first()
    const day = page.getByRole('log').getByRole('heading').first()
    const clock = page.getByRole('region', { name: 'Local clock' }).getByRole('time')

    expect(await time.innerText()).toBe(`${inJakarta.slice(0, 19).replace('T', ' ')} WIB`)
    expect(await time.getAttribute('datetime')).toBe(at)
    expect(await time.getAttribute('title')).toBe(`${at.slice(0, 19).replace('T', ' ')} UTC`)
    expect(await day.innerText()).toBe(`${inJakarta.slice(0, 10)} WIB`)
    expect(await clock.innerText()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d WIB$/)
    expect(await page.locator('main').innerText()).not.toContain('UTC')
  })

  it('finds a payment by a part of its reference, in any case of its letters', async ({
    world,
    browser,
  }) => {
    const { clientId, create } = await world.merchant([])
    for (const reference of ['INV/2026/Alpha-17', 'INV/2026/Alpha-18', 'INV/2026/beta-17'])
      await create({ ...QRIS, external_reference: reference })
    await create(QRIS)
    const { page } = await openConsole(browser, world)
    await openView(page, 'Payments')
    await chooseMerchant(page, clientId)
    const payments = page.getByRole('region', { name: 'Payments' })
    await payments.getByText('Search', { exact: true }).first().click()
    const search = async (text: string) => {
      await payments.getByLabel('Reference, or a part of it').fill(text)
      await page.keyboard.press('Enter')
    }

    await search('alpha-1')
    await payments.getByText('Looked at the newest 4 of 4 payments.').waitFor()
    await expect
      .poll(() => payments.locator('.reference').allInnerTexts())
      .toStrictEqual(['INV/2026/Alpha-18', 'INV/2026/Alpha-17'])
    await search('INV/2026/beta-17')
    await press(page, 'Look for it as a part')
    await payments.getByText('Looked at the newest 4 of 4 payments.').waitFor()
    await search('gamma')
    await payments.getByText('No reference contains it.').waitFor()
  })

  it('looks through a bounded number of payments and of merchants, and says how many', async ({
    browser,
  }) => {
    const oldest = { client_id: '00000000-0000-4000-8000-000000009999', name: 'The first one' }
    const asked: number[] = []
    const gateway = await startScriptedConsole({
      answer: ({ path, query, body }) => {
        const payload = body.length > 0 ? JSON.parse(body.toString()) : {}
        if (path === '/_local/clock') return { now: NOW }
        if (path.includes('gateway-local-get-client'))
          return { status: 200, body: payload.client_id === oldest.client_id ? oldest : undefined }
        if (path.includes('gateway-local-issue-api-key'))
          return { status: 200, body: { api_key: 'key-of-the-first-one' } }
        if (path.includes('gateway-local-list-clients')) {
          const data = numbersOf(payload.page).map((number) => ({
            client_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
            name: `Shop ${number}`,
          }))
          return { status: 200, body: { data } }
        }
        if (path !== '/v1/payments') return undefined
        const page = Number(query.get('page'))
        const isExact = query.has('external_reference')
        if (!isExact && query.get('per_page') === '100') asked.push(page)
        const data = numbersOf(page).map((number) => ({
          id: `payment-${number}`,
          status: 'succeeded',
          method: 'qris',
          created_at: NOW,
          notional_minor: 1_000,
          external_reference: `order-${number}`,
        }))
        const pagination = { page, per_page: 100, total: isExact ? 0 : 5_310 }
        return { data: isExact ? [] : data, pagination }
      },
    })
    const { page } = await openPage(browser)
    await page.goto(`${gateway.url}/console#payments`)
    const payments = page.getByRole('region', { name: 'Payments' })
    await payments.getByText('Search', { exact: true }).first().click()

    await payments.getByLabel('Reference, or a part of it').fill('ER-1999')
    await page.keyboard.press('Enter')
    await payments.getByText('Looked at the newest 2,000 of 5,310 payments.').waitFor()
    await expect
      .poll(() => payments.locator('.reference').allInnerTexts())
      .toStrictEqual(['order-1999'])
    expect(asked).toStrictEqual(Array.from({ length: 20 }, (_, at) => at + 1))

    await page.getByRole('button', { name: /^Merchant: / }).click()
    await page.getByText('These are the newest 5000 merchants.').waitFor()
    await page.keyboard.press('Escape')
    await chooseMerchant(page, oldest.client_id)
    await page.getByRole('button', { name: 'Merchant: The first one' }).waitFor()
  })

  it('chooses a merchant who is older than the newest 100, by a part of the name', async ({
    world,
    browser,
  }) => {
    const clientOf = async (name: string) => {
      const { body } = await world.admin('create-client', { operator: 'test', name })
      return String(body['client_id'])
    }
    const clientId = await clientOf('Warung Lama')
    for (let number = 0; number < 101; number++) await clientOf(`Toko ${number}`)
    const { page } = await openConsole(browser, world)

    await page.getByRole('button', { name: 'Merchant: Demo merchant' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('arung lam')
    await page.getByRole('option', { name: clientId, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText(`Merchant ${clientId}`).waitFor()
    await openView(page, 'Payments')
    await press(page, 'Create payment')
    await page.getByRole('heading', { name: 'Payment of Rp 150,000' }).waitFor()
    const id = page.url().split('/').at(-1)
    const { body } = await world.admin('get-payment', { payment_id: id })

    expect(body).toMatchObject({ client_id: clientId })
  })

  it('has a header of one row on a phone, from which views, clock and merchants open', async ({
    world,
    browser,
  }) => {
    const { page } = await openConsole(browser, world, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    })
    const header = page.getByRole('banner')
    const controls = await header.getByRole('button').all()
    const boxes = await Promise.all(controls.map((control) => control.boundingBox()))
    const middles = new Set(boxes.map((box) => Math.round((box?.y ?? 0) + (box?.height ?? 0) / 2)))
    const edges = boxes.map((box) => [box?.x ?? 0, (box?.x ?? 0) + (box?.width ?? 0)] as const)

    expect((await header.boundingBox())?.height).toBeLessThan(60)
    expect([controls.length, middles.size]).toStrictEqual([3, 1])
    expect(edges.every(([left], at) => left >= (edges[at - 1]?.[1] ?? 0))).toBe(true)
    expect(edges.at(-1)?.[1]).toBeLessThanOrEqual(390)
    await openView(page, 'Money')
    await page.getByRole('button', { name: /^Local clock, \d\d:\d\d WIB$/ }).tap()
    await press(page, 'Jump the clock forward')
    await page.getByText('Jump: it is now ').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Merchant: / }).tap()
    await page.getByRole('option', { name: 'Demo merchant' }).waitFor()
  })

  it('groups the faults, with those that are on above them and a button that ends each', async ({
    world,
    browser,
  }) => {
    const faults = `${world.urls.provider}/_simulator/faults`
    for (const [target, fault, times] of [
      ['create', 'slow', 3],
      ['callback', 'lost', 2],
    ])
      await world.post(faults, { target, fault, times, value: 10 })
    const { page } = await openConsole(browser, world)
    await openView(page, 'Provider')
    const used = page.getByRole('region', { name: 'Faults that are on' })

    await used.getByText('3 left').waitFor()
    await used.getByText('2 left').waitFor()
    const group = page.locator('details.group', { hasText: 'When a payment is created' })
    expect(await group.locator('summary').innerText()).toMatch(/\d+ faults\s+1 on$/)
    await press(page, 'Switch off slow when a payment is created')
    await used.getByText('3 left').waitFor({ state: 'detached' })

    expect((await world.send(faults)).body).toMatchObject([{ fault: 'lost' }])
    await world.send(faults, { method: 'DELETE' })
  })
})
