import { expect, it, vi } from 'vitest'
import { gatewayClient } from '../../../docs/examples/gateway-client.ts'

const ACCOUNT = { baseUrl: 'https://gateway.example', apiKey: 'gk_1' }

it('the client ends at its deadline though its request never settles', async () => {
  const client = gatewayClient({ ...ACCOUNT, deadlineMs: 20, fetch: () => new Promise(() => {}) })

  await expect(client.getBalance()).rejects.toMatchObject({
    status: 0,
    message: 'no answer: no answer within 20 ms',
  })
})

it.each(['order “7”', ' '])('the client refuses the key %j, and sends nothing', async (key) => {
  const send = vi.fn<typeof fetch>()
  const client = gatewayClient({ ...ACCOUNT, fetch: send })

  const created = client.createPayment(
    { method: 'qris', amount: 20_000, currency: 'IDR' },
    { idempotencyKey: key },
  )

  await expect(created).rejects.toThrow(TypeError)
  expect(send).not.toHaveBeenCalled()
})
