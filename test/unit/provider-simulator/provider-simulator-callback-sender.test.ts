import { describe, expect, it, onTestFinished } from 'vitest'
import { createCallbackSender } from '../../../infra/local/provider-simulator/create-callback-sender.ts'
import { silence, startScriptedServer } from '../../support/scripted-server.ts'

const CALLBACK = { headers: { 'content-type': 'application/json', 'x-callback-token': 't' }, body: '{"event":"é"}' }

const aSender = (url: string, timeoutMs?: number) => {
  const sender = createCallbackSender({ url: () => url, ...(timeoutMs !== undefined && { timeoutMs }) })
  onTestFinished(sender.close)
  return sender
}

describe('the callback sender of the provider simulator', () => {
  it('posts headers and body unchanged and resolves with the status', async () => {
    const { url, requests } = await startScriptedServer((response) => response.writeHead(503).end())

    expect(await aSender(`${url}/callbacks/xendit`).send(CALLBACK)).toBe(503)
    expect(requests).toStrictEqual([
      {
        method: 'POST',
        url: '/callbacks/xendit',
        headers: expect.objectContaining(CALLBACK.headers),
        body: CALLBACK.body,
      },
    ])
  })

  it('rejects when the answer does not come in time, and what is under way when it is closed', async () => {
    const { url } = await startScriptedServer(silence)
    const sender = aSender(url)
    const pending = expect(sender.send(CALLBACK)).rejects.toThrow(/aborted|hang up/)

    await expect(aSender(url, 20).send(CALLBACK)).rejects.toThrow('aborted')
    sender.close()
    await pending
  })

  it.each([
    ['nobody listens', 'http://127.0.0.1:1/', 'ECONNREFUSED'],
    ['the callback address is none', 'not a url', 'Invalid URL'],
  ])('rejects when %s', async (_case, url, message) => {
    await expect(aSender(url).send(CALLBACK)).rejects.toThrow(message)
  })
})
