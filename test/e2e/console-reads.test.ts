/** Goal: the console shows the current state, despite late and lost answers. */
import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { describeInChromium, browserIt as it, openPage } from './console-browser.ts'
import { type Script, startScriptedConsole } from './scripted-console.ts'

const NOW = { now: '2026-11-23T10:00:00.000Z' }
const ANY_PAYMENT = { status: 'succeeded', method: 'qris', created_at: NOW.now }

function listOf(...amounts: readonly number[]) {
  return {
    data: amounts.map((amount) => ({
      ...ANY_PAYMENT,
      id: `payment-of-${amount}`,
      notional_minor: amount,
    })),
    pagination: { page: 1, per_page: 12, total: amounts.length, total_pages: 1 },
  }
}

describeInChromium(() => {
  it('shows the gateway that a restart starts, and nothing of the gateway before it', async ({
    browser,
  }) => {
    const startGatewayOf = (clientId: string, amount: number, port = 0) =>
      startScriptedConsole({
        port,
        clientId,
        answer: ({ path }) =>
          path === '/v1/payments' ? listOf(amount) : path === '/_local/clock' ? NOW : undefined,
      })
    const firstGateway = await startGatewayOf('client-1', 1_000)
    const { page } = await openPage(browser)
    await page.goto(`${firstGateway.url}/console#payments/payment-of-1000`)
    await page.getByText('Rp 1,000').waitFor()
    await page.getByLabel('Your reference').fill('order of the dead gateway')
    firstGateway.send({
      at: NOW.now,
      subject: 'payment',
      tone: 'good',
      text: 'sent by the dead gateway',
    })
    await page.getByText('sent by the dead gateway').waitFor()

    await firstGateway.close()
    await page.getByText('not connected').waitFor()
    await startGatewayOf('client-2', 2_000, Number(new URL(firstGateway.url).port))

    await page.getByText('Rp 2,000').waitFor()
    await page.getByText('Merchant client-2').waitFor()
    await eventually(async () => {
      const leftovers = ['Rp 1,000', 'sent by the dead gateway', 'client-1'].map((text) =>
        page.getByText(text).count(),
      )
      expect(await Promise.all(leftovers)).toStrictEqual([0, 0, 0])
    })
    expect(await page.getByLabel('Your reference').inputValue()).toBe('')
    expect(new URL(page.url()).hash).toBe('#payments')
  })

  it('shows different texts for a missing answer, for an empty list, and for a gateway that does not answer', async ({
    browser,
  }) => {
    const { promise: mayAnswer, resolve: answerNow } = Promise.withResolvers<void>()
    const answer: Script['answer'] = ({ path }) =>
      mayAnswer.then(() => (path === '/v1/payments' ? listOf() : NOW))
    const gateway = await startScriptedConsole({ answer })
    const { page } = await openPage(browser)
    await page.goto(`${gateway.url}/console#payments`)
    const payments = page.getByRole('region', { name: 'Payments' })
    const states = ['Loading…', 'None yet.', 'The gateway does not answer.']
    const shownStates = () => Promise.all(states.map((text) => payments.getByText(text).count()))

    await eventually(async () => expect(await shownStates()).toStrictEqual([1, 0, 0]))
    answerNow()
    await eventually(async () => expect(await shownStates()).toStrictEqual([0, 1, 0]))
    await gateway.close()
    await eventually(async () => expect(await shownStates()).toStrictEqual([0, 1, 1]))
    await payments.getByText('The last answer is shown below.').waitFor()
  })
})
