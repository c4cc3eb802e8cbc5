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

it.each([
  [
    'a row once that a new row moved on',
    'succeeded',
    [
      [0, 100, 3],
      [98, 120, 3],
      [120, 130, 3],
    ],
    '1 2 3',
  ],
  [
    'rows that moved up as others ended',
    'pending',
    [
      [0, 100, 2],
      [0, 0, 1],
      [100, 131, 1],
      [130, 131, 1],
    ],
    '1 2 1 1',
  ],
] as const)('the client lists every page, and %s', async (_, status, answers, pages) => {
  const rows = Array.from({ length: 130 }, (_row, n) => ({ id: `p${n}`, created_at: '1' }))
  const listed = [...rows, { id: 'newer', created_at: '2' }]
  const asked: unknown[] = []
  const fetch = async (url: unknown) => {
    asked.push(new URL(String(url)).searchParams.get('page'))
    const [start, end, total_pages] = answers[asked.length - 1] ?? []
    await Promise.resolve()
    return Response.json({ data: listed.slice(start, end), pagination: { total_pages } })
  }

  const seen = await Array.fromAsync(gatewayClient({ ...ACCOUNT, fetch }).listPayments({ status }))

  expect(seen).toStrictEqual(rows)
  expect(asked.join(' ')).toBe(pages)
})
