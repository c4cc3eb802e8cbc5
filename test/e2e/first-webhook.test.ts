import { expect, it, onTestFinished } from 'vitest'
import { ownPorts } from '../support/own-ports.ts'
import { runTool } from '../support/run-tool.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'

/*
 * Goal: a newcomer who pastes what `npm start` prints has a verified webhook. Method: the first
 * three blocks of the banner run in a shell, as they are printed. How long it takes:
 * docs/performance.md.
 */

it('the first commands of the banner end with a paid payment and its verified webhook', async () => {
  const gateway = startGatewayProcess({ port: await ownPorts(), args: ['--table', 'memory'] })
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  await gateway.ready()
  const [blocks = ''] =
    /# Create a payment[\s\S]*?(?=# Some days later)/.exec(gateway.output()) ?? []

  // The commands show answers on the error output, which they cannot open if it is a socket.
  const script = `exec 2> /dev/null\n${blocks}`
  const { code, output } = await runTool('bash', ['-euo', 'pipefail', '-c', script])

  expect(code).toBe(0)
  const [webhooks = '', ...answers] = output.split('\n').filter((line) => /^[[{]/.test(line))
  expect(JSON.parse(webhooks)).toMatchObject([{ signature_valid: true }])
  expect(answers.join('\n')).toContain('"status":"succeeded"')
})
