/**
 * Goal: a newcomer makes a payment and its payout with only the console's controls. The console
 * works without a mouse, with a screen reader, on a small screen and offline.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { sampleOf } from '../support/runs.ts'
import {
  accessibilityFaults,
  chooseMerchant,
  createByKeyboard,
  describeInChromium,
  browserIt as it,
  openConsole,
  openFaultGroups,
  openView,
  press,
  scanQrCode,
  takePicture,
  unreachedControls,
  VIEWS,
  waitForMessage,
  wideElements,
} from './console-browser.ts'
import { QRIS } from './gateway-world.ts'

const JAKARTA_MS = 7 * 3_600_000

describeInChromium(() => {
  it('creates a payment, pays it, and pays it out to the merchant', async ({ world, browser }) => {
    const { page, problems, origins } = await openConsole(browser, world)
    const merchant = world.demo

    await openView(page, 'Payments')
    await page.getByText('The provider takes IDR 1 to 20,000,000.').waitFor()
    const id = await createByKeyboard(page, 'qris', '150000')
    const code = await page.getByRole('img', { name: /^QR code/ }).screenshot()
    expect(await scanQrCode(browser, code)).toBe(
      (await merchant.payment(id))['payment_destination'],
    )
    await takePicture(page, 'console-payment')
    await press(page, 'Pay')
    await page.getByText('Webhook, attempt 1: answered 200').waitFor()
    expect(await merchant.payment(id)).toMatchObject({ status: 'succeeded' })

    await openView(page, 'Webhooks')
    await page.getByText('signature verified').waitFor()
    // The test empties the inbox. The event feed still has the body.
    await world.send(`${world.urls.inbox}/received`, { method: 'DELETE' })
    await page.getByRole('link', { name: 'payment.succeeded', exact: true }).click()
    const request = page.getByRole('region', { name: 'The request' })
    await request.getByText(`"id":"${id}"`).waitFor()
    await request.getByText('new for each attempt, and not stored').first().waitFor()
    await press(page, 'Redeliver payment.succeeded')
    await request.getByText(/^v1,[A-Za-z0-9+/]{43}=$/).waitFor()
    await page.getByRole('link', { name: 'its payment' }).click()
    await page.getByText('Webhook, attempt 2: answered 200').waitFor()
    await openView(page, 'Money')
    await page.getByText('Step by step').click()
    await press(page, 'Jump 5 days')
    await page.getByText(/^Jump 5 days: it is now /).waitFor()
    await press(page, 'Read the provider’s transactions')
    await eventually(async () =>
      expect(await merchant.payment(id)).toMatchObject({ fee_status: 'actual' }),
    )
    await press(page, 'Sweep')
    await waitForMessage(page, 'is to be paid out')
    await world.advance(120)
    await world.invoke('check-due-work')
    await waitForMessage(page, 'the audit of a merchant ended')
    await page.getByLabel('Bank reference').fill('transfer-1')
    await page.getByRole('button', { name: /^Mark paid/ }).click()
    await waitForMessage(page, 'is paid out')
    await press(page, 'Check the books')
    await page.getByText(/the books balance\.$/).waitFor()
    const taken = page.getByRole('row', { name: /^taken in qris: .* Rp 150,000$/ })
    await taken.waitFor()
    expect(await page.getByRole('row', { name: /Rp 0$/ }).count()).toBe(0)
    const entry = page
      .getByRole('region', { name: /ntries$/ })
      .getByRole('link', { name: 'its payment' })
    await page.getByRole('link', { name: 'all entries', exact: true }).click()
    expect(await entry.getAttribute('href')).toBe(`#payments/${id}`)
    await page.getByRole('link', { name: 'its settlement' }).click()
    expect(await entry.getAttribute('href')).toBe(`#payments/${id}`)
    await page.getByRole('link', { name: 'All the money' }).click()
    const { body: balance } = await merchant.get('/v1/balance?include=settlements')
    expect(balance).toMatchObject({ pending_minor: 0, in_settlement_minor: 0 })
    const paidOut = `Rp ${Number(balance['paid_out_minor']).toLocaleString('en-US')}`
    await page.getByText(paidOut).first().waitFor()
    expect([problems, [...origins]]).toStrictEqual([[], [world.urls.api]])
  })

  it('switches faults on and off, and shows the reason for a refused create', async ({
    world,
    browser,
  }) => {
    const { page, problems } = await openConsole(browser, world)
    const armedFaults = async () =>
      (await world.send(`${world.urls.provider}/_simulator/faults`)).body
    await openFaultGroups(page)
    const slow = page.getByRole('switch', { name: 'slow when a payment is created' })
    const refuse = page.getByRole('switch', { name: 'refuse when a payment is created' })

    await refuse.waitFor()
    const sentences = await page.locator('.fault .note').allInnerTexts()
    expect(sentences.filter((text) => !/^[A-Z].*\.$/.test(text))).toStrictEqual([])

    await slow.press('Space')
    await eventually(async () => expect(await slow.getAttribute('aria-checked')).toBe('true'))
    await refuse.press('Space')
    await eventually(async () => expect(await armedFaults()).toHaveLength(2))
    await slow.press('Space')
    await eventually(async () =>
      expect(await armedFaults()).toStrictEqual([expect.objectContaining({ fault: 'refuse' })]),
    )
    await openView(page, 'Payments')
    // The notice disappears after some seconds.
    const noticeShown = page.getByRole('status').getByText('Create payment: ').waitFor()
    await press(page, 'Create payment')
    await noticeShown
    await waitForMessage(page, 'INVALID_MERCHANT_SETTINGS')

    // The browser logs no error, because the console's server answers 200 with the gateway's answer
    // inside.
    expect([problems, await armedFaults()]).toStrictEqual([[], []])
  })

  it.for(sampleOf(['dark', 'light'] as const, 2))(
    'has labels and contrast, and all controls are reachable by keyboard (%s)',
    async (scheme, { world, browser }) => {
      const { page, problems } = await openConsole(browser, world, { colorScheme: scheme })
      const faults: string[] = []
      for (const name of VIEWS) {
        await openView(page, name)
        if (name === 'Payments') await createByKeyboard(page, 'qris', '60000')
        if (name === 'Provider') await openFaultGroups(page)
        faults.push(...(await accessibilityFaults(page)), ...(await unreachedControls(page)))
      }
      if (scheme === 'dark') {
        await openFaultGroups(page)
        await page.evaluate('scrollTo(0, 0)')
        await takePicture(page, 'console-provider-dark')
      }

      expect([faults, problems]).toStrictEqual([[], []])
    },
  )

  it('copies requests as curl commands that work, for the selected merchant', async ({
    world,
    browser,
  }) => {
    const { clientId } = await world.merchant()
    const { page } = await openConsole(browser, world)
    const run = async (name: string) => {
      await press(page, `Copy “${name}” as curl`)
      const { stdout } = await promisify(execFile)('sh', [
        '-c',
        await page.evaluate<string>('navigator.clipboard.readText()'),
      ])
      return JSON.parse(stdout)
    }
    await openView(page, 'Payments')
    await page.getByLabel('Your reference').fill(`it's $(id) \`id\` "5"`)

    const payment = await run('Create payment')
    await page.goto(`${world.urls.api}/console#payments/${payment.id}`)
    await page.getByText(payment.external_reference).first().waitFor()

    expect(payment).toMatchObject({
      status: 'pending',
      external_reference: `it's $(id) \`id\` "5"`,
    })
    expect(await run('Payments')).toMatchObject({ data: expect.any(Array) })
    expect(await run('Pay')).toMatchObject({ status: 'PENDING' })
    await page.getByText('Paid and credited').waitFor()
    await chooseMerchant(page, clientId)
    expect(await run('Create payment')).toMatchObject({ client_id: clientId })
  })

  it('shows a merchant’s HTML as plain text', async ({ world, browser }) => {
    const { page, problems } = await openConsole(browser, world)
    const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    const { body } = await world.demo.create(
      { ...QRIS, external_reference: hostile },
      crypto.randomUUID(),
    )

    await page.goto(`${world.urls.api}/console#payments/${String(body['id'])}`)
    await expect.poll(() => page.getByText(hostile).count()).toBe(2)

    expect([await page.title(), problems]).toStrictEqual(['Payment gateway · local console', []])
  })

  it('fits a phone: no element is too wide, and a tapped payment scrolls into view', async ({
    world,
    browser,
  }) => {
    const { page } = await openConsole(browser, world, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    })
    const reference = 'order-with-a-reference-that-never-ends-'.repeat(6)
    const { create, payment } = world.demo
    const id = String(
      (await create({ ...QRIS, amount: 65_432, external_reference: reference })).body['id'],
    )
    await create({ ...QRIS, amount: 65_431 })
    await world.pay(id)
    await expect.poll(async () => (await payment(id))['status']).toBe('succeeded')

    await openView(page, 'Payments')
    const payments = page.getByRole('region', { name: 'Payments' })
    await payments.getByText('Search', { exact: true }).first().tap()
    await payments.getByLabel('Amount paid in IDR').fill('65432')
    const madeAt = Date.parse(String((await payment(id))['created_at']))
    await payments
      .getByLabel('Its day in Jakarta')
      .fill(new Date(madeAt + JAKARTA_MS).toISOString().slice(0, 10))
    await page.keyboard.press('Enter')
    await expect.poll(() => payments.getByRole('listitem').count()).toBe(1)
    await payments.getByText('Rp 65,432').tap()
    const heading = page.getByRole('heading', { name: 'Payment of Rp 65,432' })
    await heading.waitFor()
    await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(200)
    const wide = [...(await wideElements(page)), ...(await accessibilityFaults(page))]
    for (const name of VIEWS) {
      await openView(page, name)
      await page.getByText('Loading…').first().waitFor({ state: 'detached' })
      wide.push(...(await wideElements(page)))
    }
    await openView(page, 'Webhooks')
    await page.getByRole('link', { name: 'payment.succeeded', exact: true }).first().tap()
    await page.getByText('x-gateway-signature').waitFor()
    wide.push(...(await wideElements(page)), ...(await accessibilityFaults(page)))
    await page.goto(`${world.urls.api}/console#money/entries`)
    await page.getByRole('heading', { name: 'Entries' }).waitFor()
    wide.push(...(await wideElements(page)), ...(await accessibilityFaults(page)))

    expect(wide).toStrictEqual([])
  })
})
