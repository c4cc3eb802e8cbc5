/**
 * Goal: an operator of all merchants does the day's work with only the console's controls: payouts,
 * approvals, cases, held money and a merchant's statement.
 */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { readSheet } from 'read-excel-file/node'
import { expect } from 'vitest'
import {
  accessibilityFaults,
  chooseMerchant,
  describeInChromium,
  looksOf,
  openConsole,
  openFaultGroups,
  openPage,
  openView,
  press,
  unreachedControls,
  wideElements,
} from './console-browser.ts'
import type { World } from './gateway-world.ts'
import { operateIt as it } from './operate-world.ts'
import { startScriptedConsole } from './scripted-console.ts'

function card(page: Page, name: string) {
  return page.getByRole('region', { name, exact: true })
}

async function settlementsOf(world: World, clientId: string) {
  const { body } = await world.admin('list-settlements', { client_id: clientId })
  return body['data'] as readonly { readonly id: string }[]
}

async function settlementOf(world: World, clientId: string) {
  const [settlement] = await settlementsOf(world, clientId)
  return settlement?.id ?? 'none'
}

async function suspenseOf(world: World, paymentId: string, kind: string) {
  const { body } = await world.admin('list-suspense', { payment_id: paymentId, kind })
  return body['data']
}

describeInChromium(() => {
  it.for(looksOf(390, 'dark'))(
    'has labels and contrast, and controls that a keyboard reaches (%i px, %s)',
    async ([width, colorScheme], { world, browser, operated }) => {
      const { page, problems } = await openConsole(browser, world, {
        colorScheme,
        viewport: { width, height: 900 },
      })
      const faults: string[] = []
      const check = async () => {
        faults.push(...(await accessibilityFaults(page)), ...(await wideElements(page)))
      }
      const hasKeyboard = width === (colorScheme === 'light' ? 1_440 : 390)
      await openView(page, 'Operate')
      await card(page, 'Cases').getByText('To be answered until').waitFor()
      await card(page, 'To pay out').getByText('PT Warung Kopi').waitFor()
      await check()
      if (hasKeyboard) faults.push(...(await unreachedControls(page)))
      await page.goto(`${world.urls.api}/console#money/statement`)
      await card(page, 'The statement').getByText('At the end of').waitFor()
      await check()
      if (hasKeyboard) faults.push(...(await unreachedControls(page)))
      await page.goto(`${world.urls.api}/console#payments/${operated.disputed}`)
      await card(page, 'Cases and held money').waitFor()
      await check()
      await openFaultGroups(page)
      await check()
      await page.getByRole('button', { name: /^Merchant: / }).click()
      await page.getByText('merchants in all').waitFor()
      await check()

      expect([faults, problems]).toStrictEqual([[], []])
    },
  )

  it('makes a batch, cancels it with an approval, and pays out the next one with the bank’s answer', async ({
    world,
    browser,
    operated: { steady, moved, closed },
  }) => {
    const { page } = await openConsole(browser, world)
    await openView(page, 'Operate')

    await press(page, 'Make the next batch')
    await card(page, 'Batch 1').getByText('The bank has not answered 2 of them.').waitFor()
    await page.getByText('The file again, or cancel the batch').click()
    await page.getByLabel('Why batch 1 is cancelled').fill('the bank’s site is down')
    await press(page, 'Cancel the batch 1')
    await press(page, 'Approve payout-file 1')
    await card(page, 'Approvals').getByText('Approve: approved until ').waitFor()
    await press(page, 'Cancel the batch 1')
    await card(page, 'Batch 1').waitFor({ state: 'detached' })
    expect(await settlementsOf(world, steady.clientId)).toMatchObject([{ status: 'recorded' }])

    await card(page, 'To pay out').getByText('PT Warung Kopi').waitFor()
    const waiting = await settlementOf(world, moved.clientId)
    await press(page, `Approve mark-settlement-paid BCA 0098765499 ${waiting}`)
    await card(page, 'Approvals').getByText('PT Toko Buku').waitFor({ state: 'detached' })
    await press(page, 'Make the next batch')
    const batch = card(page, 'Batch 2')
    await batch.getByText('The bank has not answered 3 of them.').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save payout-0002.xlsx' }).click(),
    ])
    const rows = await readSheet(await readFile(await download.path()))
    expect(rows.flat()).toStrictEqual(expect.arrayContaining(['0012345678', '0098765499']))

    for (const [at, { clientId }] of [steady, moved].entries()) {
      const id = await settlementOf(world, clientId)
      await page.getByLabel(`Bank reference of ${id}`).fill(`TRX-${at + 1}`)
    }
    const failing = await settlementOf(world, closed.clientId)
    await page.getByLabel(`The bank’s answer to ${failing}`).selectOption('failed')
    await page.getByLabel(`Reason in the bank’s words of ${failing}`).fill('account closed')
    await press(page, 'Write the bank’s answer down of batch 2')
    await page.getByText('Batch 2: 2 paid, 1 failed, 0 refused.').waitFor()
    await batch.waitFor({ state: 'detached' })
    const paid = [
      ...(await settlementsOf(world, steady.clientId)),
      ...(await settlementsOf(world, moved.clientId)),
    ]
    expect(paid).toMatchObject([
      { status: 'manual_paid', bank_reference: 'TRX-1', batch: 2 },
      { status: 'manual_paid', bank_reference: 'TRX-2', batch: 2 },
    ])

    const failed = card(page, 'Failed payouts')
    await failed.getByText('account closed').waitFor()
    await press(page, `Credit it again ${failing}`)
    await press(page, `Approve recredit-settlement ${failing}`)
    await card(page, 'Approvals').getByText('PT Akun Tutup').waitFor({ state: 'detached' })
    await press(page, `Credit it again ${failing}`)
    await failed.waitFor({ state: 'detached' })
    expect(await settlementsOf(world, closed.clientId)).toMatchObject([
      { status: 'failed', recredited_at: expect.any(String) },
    ])
  })

  it('shows why a line of the bank’s answer is refused, and keeps what was typed', async ({
    browser,
  }) => {
    const payout = {
      id: 'settlement-1',
      client_id: 'client-1',
      status: 'recorded',
      net_minor: 1_000,
      payment_count: 1,
      period_end: '2026-11-23T10:00:00.000Z',
      bank_name: 'BCA',
      bank_account_no: '0012345678',
      bank_account_name: 'PT Warung Kopi',
      notes: null,
      recredited_at: null,
      batch: 7,
      warning: null,
    }
    const reason = 'it is marked paid already, with the reference TRX-9.'
    const bodies: Readonly<Record<string, object>> = {
      'list-settlements': { data: [payout] },
      'list-audit': { data: [{ after: { state: 'ready', count: 2, total_minor: 2_000 } }] },
      'list-suspense': { data: [] },
      'payout-answer': {
        done: 0,
        failed: 0,
        refused: 1,
        lines: [{ line: 1, settlement_id: payout.id, result: 'refused', reason }],
      },
    }
    const gateway = await startScriptedConsole({
      answer: ({ path, body }) => {
        if (path === '/_local/clock') return { now: payout.period_end }
        const action = /gateway-local-(.+)\/invocations$/.exec(path)?.[1] ?? ''
        if (body.includes('"failed"')) return { status: 200, body: { data: [] } }
        return bodies[action] && { status: 200, body: bodies[action] }
      },
    })
    const { page } = await openPage(browser)
    await page.goto(`${gateway.url}/console#operate`)
    const batch = card(page, 'Batch 7')
    await batch.getByText('2 payouts, Rp 2,000. The bank has not answered 1 of them.').waitFor()

    await batch.getByLabel('Bank reference of settlement-1').fill('TRX-10')
    await page.keyboard.press('Enter')
    await batch.getByText(`Refused: ${reason}`).waitFor()

    expect(await batch.getByLabel('Bank reference of settlement-1').inputValue()).toBe('TRX-10')
    await page.getByText('Batch 7: 0 paid, 0 failed, 1 refused.').waitFor()
  })

  it('shows a case and held money with their payments, and resolves both', async ({
    world,
    browser,
    operated: { disputed, held },
  }) => {
    const { page } = await openConsole(browser, world)

    await page.goto(`${world.urls.api}/console#payments/${disputed}`)
    await card(page, 'Cases and held money').getByText('To be answered until').waitFor()
    await page.getByRole('link', { name: 'resolve it' }).click()
    const cases = card(page, 'Cases')
    await cases.getByLabel(/^Notes on /).fill('proof of delivery sent')
    await cases.getByRole('button', { name: /^Answered / }).click()
    await cases.getByText('No case is open.').waitFor()
    expect(await suspenseOf(world, disputed, 'case')).toMatchObject([
      { status: 'resolved', resolution: 'answered', notes: 'proof of delivery sent' },
    ])

    const money = card(page, 'Held money')
    const refund = money.getByRole('button', { name: /^Refunded by our bank / })
    await refund.click()
    await page.getByRole('button', { name: /^Approve resolve-suspense refunded_by_bank / }).click()
    await card(page, 'Approvals').getByText('Approve: approved until ').waitFor()
    await refund.click()
    await money.getByText('No money is held.').waitFor()
    expect(await suspenseOf(world, held, 'money')).toMatchObject([
      { status: 'resolved', resolution: 'refunded_by_bank' },
    ])
  })

  it('prints a merchant’s statement alone, with lines that add up to its end', async ({
    world,
    browser,
    operated: { steady },
  }) => {
    const { page } = await openConsole(browser, world)
    await openView(page, 'Money')
    await chooseMerchant(page, steady.clientId)
    await page.getByRole('link', { name: 'the statement' }).click()
    const statement = card(page, 'The statement')
    await statement.getByText('At the end of').waitFor()
    const { body } = await steady.get('/v1/statement')
    const figures = await statement.locator('td:nth-last-child(2)').allInnerTexts()
    const sum = figures
      .map((text) => Number(text.replace('−', '-').replaceAll(',', '')))
      .reduce((total, minor) => total + minor, Number(body['opening_minor']))
    expect(figures.length).toBeGreaterThan(0)
    expect(sum).toBe(body['closing_minor'])
    const closing = Number(body['closing_minor']).toLocaleString('en-US')
    await statement
      .getByRole('row', { name: `At the end of ${String(body['to'])} ${closing}` })
      .waitFor()
    const [csv] = await Promise.all([page.waitForEvent('download'), press(page, 'Save as CSV')])
    expect((await readFile(await csv.path(), 'utf8')).trim().split('\n')).toHaveLength(
      figures.length + 1,
    )

    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const printed = await page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
      .filter((element) => element.checkVisibility() && element.innerText?.trim() && element.children.length === 0 && !element.closest('.statement'))
      .map((element) => element.innerText)`)
    const colours = await page.evaluate<string[]>(`[getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.querySelector('.statement td')).color]`)

    expect(printed).toStrictEqual([])
    expect(await statement.isVisible()).toBe(true)
    expect(colours).toStrictEqual(['rgb(255, 255, 255)', 'rgb(0, 0, 0)'])
  })
})
