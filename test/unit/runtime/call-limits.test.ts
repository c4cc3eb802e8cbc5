import { expect, it, vi } from 'vitest'
import { ENV, queueUrlVariable } from '../../../shared/runtime/config.ts'
import { runtimeDeps } from '../../../shared/runtime/runtime-deps.ts'
import { silence, startScriptedServer } from '../../support/scripted-server.ts'

/** The dependencies of a function whose table and queues take every request and never answer. */
const startOnSilence = async (limits: Readonly<Record<string, string>>) => {
  const server = await startScriptedServer(silence)
  const environment = {
    [ENV.stage]: 'dev',
    [ENV.table]: 'gateway-dev',
    [queueUrlVariable('audits')]: `${server.url}/audits`,
    AWS_ENDPOINT_URL: server.url,
    AWS_REGION: 'ap-southeast-3',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    ...limits,
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  return { server, deps: runtimeDeps() }
}

it('a function with limits ends calls to a hanging table or queue after its tries and timeouts', async () => {
  const { server, deps } = await startOnSilence({ [ENV.callTries]: '2', [ENV.callTimeout]: '40' })

  const read = deps.table.get({ pk: 'PAYMENT#1', sk: 'PAYMENT' })
  await expect(read).rejects.toThrow('40 ms')
  const asked = server.requests.length
  const sent = deps.queues.send('audits', { body: {}, delaySeconds: 0, group: 'g' })
  await expect(sent).rejects.toThrow('40 ms')

  expect([asked, server.requests.length]).toStrictEqual([2, 4])
})
