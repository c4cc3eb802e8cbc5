import { describe, expect, it } from 'vitest'
import { aRequestBody, aSimulator } from '../../support/provider-simulator-harness.ts'

type Created = { payment_request_id: string; reference_id: string; status: string; actions: { value: string }[] }

const aCheckout = async (harness: Awaited<ReturnType<typeof aSimulator>>, referenceId = 'order-1') => {
  const body = aRequestBody('DANA', { reference_id: referenceId })
  const created = await harness.call<Created>('POST', '/v3/payment_requests', body)
  const url = created.body.actions[0]?.value ?? ''
  return { url, path: new URL(url).pathname, id: created.body.payment_request_id }
}

describe('the checkout page of the provider simulator', () => {
  it('shows the amount and a Pay button under the URL of the action', async () => {
    await using harness = await aSimulator()
    const { url } = await aCheckout(harness, '<script>alert(1)</script>')

    const page = await fetch(url)

    const html = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html).toContain('150.000')
    expect(html).toContain('<form method="post">')
    expect(html).not.toContain('<script>')
  })

  it('pays on the button and goes back to the merchant', async () => {
    await using harness = await aSimulator()
    const { path, id } = await aCheckout(harness)

    const answer = await harness.call('POST', path)

    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('https://merchant.example/done')
    expect((await harness.call('GET', `/v3/payment_requests/${id}`)).body['status']).toBe('SUCCEEDED')
    expect(await harness.receiver.waitFor(1)).toMatchObject([{ body: { event: 'payment.capture' } }])
  })

  it('has no button once the request is final, and does not pay it', async () => {
    await using harness = await aSimulator()
    const { path, id } = await aCheckout(harness)
    await harness.call('POST', `/v3/payment_requests/${id}/cancel`)

    const page = await harness.call('GET', path)
    const paid = await harness.call('POST', path)

    expect(page.text).toContain('CANCELED')
    expect(page.text).not.toContain('<form')
    expect(paid.status).toBe(400)
  })

  it('answers 404 for an unknown request', async () => {
    await using harness = await aSimulator()

    expect((await harness.call('GET', '/checkout/pr-none')).status).toBe(404)
  })
})
