import { expect, it, vi } from 'vitest'
import { gatewayClient } from '../../../docs/examples/gateway-client.ts'

it('the client ends at its deadline though its request never settles', async () => {
  const client = gatewayClient({
    baseUrl: 'https://gateway.example',
    apiKey: 'gk_1',
    deadlineMs: 20,
    fetch: () => new Promise(() => {}),
  })

  await expect(client.getBalance()).rejects.toMatchObject({
    status: 0,
    message: 'no answer: no answer within 20 ms',
  })
})

it('the client refuses a key that no header can have, before it sends anything', async () => {
  const send = vi.fn<typeof fetch>()
  const client = gatewayClient({ baseUrl: 'https://gateway.example', apiKey: 'gk_1', fetch: send })

  const created = client.createPayment(
    { method: 'qris', amount: 20_000, currency: 'IDR' },
    { idempotencyKey: 'order “7”' },
  )

  await expect(created).rejects.toThrow(TypeError)
  expect(send).not.toHaveBeenCalled()
})
