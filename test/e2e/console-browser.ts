import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import axe, { type AxeResults } from 'axe-core'
import jsQr from 'jsqr'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { PATIENCE_MS } from '../support/patience.ts'
import { isNightly } from '../support/runs.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { type Fixture, ownWorldIt } from './gateway-world.ts'

/**
 * The browser that `CHROMIUM` names, or the machine's own Chromium; undefined without a browser.
 */
export const CHROMIUM = [
  process.env['CHROMIUM'] ?? '',
  ...['chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`),
].find((path) => path !== '' && existsSync(path))

/** The browser reaches only this machine. */
export async function aBrowser(
  { path }: { readonly path: string | undefined },
  { onCleanup }: Fixture,
) {
  const browser = await chromium.launch({
    executablePath: path,
    timeout: PATIENCE_MS,
    // Chromium's sandbox does not work for root, as in most containers.
    args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  })
  onCleanup(() => browser.close())
  return browser
}

/** Tests of one file that share a world and a browser. */
export const browserIt = ownWorldIt
  .extend('path', { scope: 'file' }, CHROMIUM)
  .extend('browser', { scope: 'file' }, aBrowser)

export function describeInChromium(tests: () => void) {
  return describe.skipIf(CHROMIUM === undefined)(
    'the console in Chromium (skipped on a machine without Chromium)',
    tests,
  )
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    viewport: { width: 1_440, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const problems: string[] = []
  const origins = new Set<string>()
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  return { page, problems, origins }
}

export async function openConsole(
  browser: Browser,
  { urls }: { readonly urls: { readonly api: string } },
  options: BrowserContextOptions = {},
) {
  const openedPage = await openPage(browser, options)
  await openedPage.page.goto(`${urls.api}/console`)
  await openedPage.page.getByText('live', { exact: true }).waitFor()
  return openedPage
}

export function press(page: Page, name: string) {
  return page.getByRole('button', { name, exact: true }).click()
}

const WIDTHS = [390, 1_024, 1_440] as const

const SCHEMES = ['light', 'dark'] as const

type Look = readonly [width: (typeof WIDTHS)[number], scheme: (typeof SCHEMES)[number]]

/** Each width in both themes in the nightly run, otherwise the usual one. */
export function looksOf(...usual: Look) {
  const all = WIDTHS.flatMap((width) => SCHEMES.map((scheme) => [width, scheme] as const))
  return isNightly ? all : [usual]
}

export const VIEWS = ['Payments', 'Webhooks', 'Money', 'Operate', 'Provider'] as const

/** On a phone the views are behind a button. */
export async function openView(page: Page, name: (typeof VIEWS)[number]) {
  const views = page.getByRole('button', { name: /^Views, now / })
  if (await views.isVisible()) await views.click()
  await page.getByRole('link', { name, exact: true }).click()
}

export async function chooseMerchant(page: Page, clientId: string) {
  await page.getByRole('button', { name: /^Merchant: / }).click()
  await page.getByRole('combobox', { name: 'Find a merchant by name or id' }).fill(clientId)
  await page.getByRole('option', { name: clientId, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText(`Merchant ${clientId}`).waitFor()
}

/** Elements that are wider than the page. A table of figures scrolls by itself. */
export function wideElements(page: Page) {
  return page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.skip, .table table'))
    .map((element) => element.outerHTML.slice(0, 200))`)
}

export async function openFaultGroups(page: Page) {
  await openView(page, 'Provider')
  const groups = page.locator('details.group > summary')
  await groups.first().waitFor()
  for (const group of await groups.all()) await group.click()
}

export function waitForMessage(page: Page, text: string) {
  return page.getByRole('log').getByText(text).first().waitFor()
}

export async function createByKeyboard(page: Page, channel: string, amount: string) {
  await page.getByLabel('Paid by').selectOption(channel)
  await page.getByLabel('Amount in IDR').fill(amount)
  await page.getByRole('button', { name: 'Create payment', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page
    .getByRole('heading', { name: `Payment of Rp ${Number(amount).toLocaleString('en-US')}` })
    .waitFor()
  return page.url().split('/').at(-1) ?? ''
}

/** Violations of WCAG 2.2 AA and good practice that axe finds. */
export async function accessibilityFaults(page: Page) {
  // Playwright runs axe, because the page's content security policy forbids such scripts.
  await page.evaluate(axe.source)
  // What passes is not collected: that takes two thirds of the time.
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ['violations'] })`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`),
  )
}

export async function unreachedControls(page: Page) {
  const controlCount = await page.evaluate<number>(`{
    const controls = document.querySelectorAll('a[href], button:not(:disabled), input, select, summary')
    unreached = [...controls].filter((control) => control.checkVisibility())
    document.activeElement.blur()
    scrollTo(0, 0)
    unreached.length
  }`)
  expect(controlCount).toBeGreaterThan(5)
  // Scrollable parts are Tab stops too.
  for (let presses = 0; presses < controlCount + 30; presses++) {
    await page.keyboard.press('Tab')
    await page.evaluate(
      'void (unreached = unreached.filter((control) => control !== document.activeElement))',
    )
  }
  return page.evaluate<string[]>('unreached.map((control) => control.outerHTML)')
}

export async function scanQrCode(browser: Browser, png: Buffer) {
  const context = await browser.newContext()
  const page = await context.newPage()
  const { data, width, height } = await page.evaluate<{
    data: number[]
    width: number
    height: number
  }>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png.toString('base64')}'
    await image.decode()
    const { width, height } = image
    const drawing = new OffscreenCanvas(width, height).getContext('2d')
    drawing.drawImage(image, 0, 0)
    return { data: [...drawing.getImageData(0, 0, width, height).data], width, height }
  })()`)
  await context.close()
  return jsQr.default(new Uint8ClampedArray(data), width, height)?.data
}

/** With `SCREENSHOTS=write` (CONTRIBUTING.md), stores a picture for the documents. */
export async function takePicture(page: Page, name: string) {
  const shot = await page.screenshot({ animations: 'disabled' })
  expect(shot.length).toBeGreaterThan(10_000)
  if (process.env['SCREENSHOTS'] === 'write')
    writeFileSync(join(PROJECT_ROOT, `docs/pictures/${name}.png`), shot)
}
