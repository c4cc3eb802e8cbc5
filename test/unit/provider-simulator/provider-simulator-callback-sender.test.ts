import { createServer, type RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createCallbackSender } from '../../../infra/local/provider-simulator/callback-sender.ts'
import { portOf } from '../../support/provider-simulator-harness.ts'

const CALLBACK = { headers: { 'content-type': 'application/json', 'x-callback-token': 't' }, body: '{"event":"é"}' }

const aReceiver = async (listener: RequestListener) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${portOf(server)}/callbacks/xendit`,
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

describe('the callback sender of the provider simulator', () => {
  it('posts headers and body unchanged and resolves with the status', async () => {
    const seen: unknown[] = []
    using receiver = await aReceiver((incoming, response) => {
      incoming.setEncoding('utf8').on('data', (body) => {
        const { method, url, headers } = incoming
        seen.push({ method, url, token: headers['x-callback-token'], type: headers['content-type'], body })
        response.writeHead(503).end()
      })
    })
    const sender = createCallbackSender({ url: () => receiver.url })

    const status = await sender.send(CALLBACK)

    sender.close()
    expect(status).toBe(503)
    expect(seen).toStrictEqual([
      { method: 'POST', url: '/callbacks/xendit', token: 't', type: 'application/json', body: CALLBACK.body },
    ])
  })

  it('rejects when the answer does not come in time', async () => {
    using receiver = await aReceiver(() => undefined)
    const sender = createCallbackSender({ url: () => receiver.url, timeoutMs: 20 })

    await expect(sender.send(CALLBACK)).rejects.toThrow('aborted')

    sender.close()
  })

  it('rejects when nobody listens', async () => {
    const sender = createCallbackSender({ url: () => 'http://127.0.0.1:1/' })

    await expect(sender.send(CALLBACK)).rejects.toThrow('ECONNREFUSED')

    sender.close()
  })

  it('rejects what is under way when it is closed', async () => {
    using receiver = await aReceiver(() => undefined)
    const sender = createCallbackSender({ url: () => receiver.url })
    const pending = expect(sender.send(CALLBACK)).rejects.toThrow(/aborted|hang up/)

    sender.close()

    await pending
  })

  it('rejects a callback address that is none', async () => {
    const sender = createCallbackSender({ url: () => 'not a url' })

    await expect(sender.send(CALLBACK)).rejects.toThrow('Invalid URL')

    sender.close()
  })
})
