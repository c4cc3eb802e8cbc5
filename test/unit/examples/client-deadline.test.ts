import { expect, it } from 'vitest'
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
