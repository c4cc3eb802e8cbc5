import { expect, it, vi } from 'vitest'
import { startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'

it('prints an error that it answers with 500, and the request that met it', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const failure = new Error('no such page')
  const server = await startLocalHttpServer({ port: 0, answer: () => Promise.reject(failure) })
  const answer = await fetch(`${server.url}/page?of=1`)
  await server.close()

  expect(answer.status).toBe(500)
  expect(printed.mock.calls).toStrictEqual([['\nThe local server failed at GET /page?of=1:', failure]])
})
