import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { commandOf } from '../../infra/local/process/process-record.ts'
import { eventually } from '../support/eventually.ts'
import { outputOf, runTool } from '../support/run-tool.ts'
import { silence, startScriptedServer } from '../support/scripted-server.ts'
import { type Banner, readBanner } from '../support/start-gateway-process.ts'
import { machineWith, tempDirectory } from '../support/temp-directory.ts'
import { merchantAt, spawnGateway, VA } from './gateway-world.ts'
import { runScripts } from './run-scripts.ts'

/*
 * Goal: a gateway ends with its npm process, and its options do what they say. Method: `npm start`
 * in a separate process. On its data: data-directory.test.ts.
 */

function answerOf(url: string) {
  return fetch(url).catch(() => 'nothing')
}

it('a start on a used port names the port and exits', async () => {
  const port = Number(new URL((await startScriptedServer(silence)).url).port)

  const gateway = spawnGateway({ port, args: ['--table', 'memory'] })

  expect(await gateway.exited).toStrictEqual([1, null])
  expect(gateway.output()).toContain(`port ${port} is in use`)
})

it('a gateway ends when its npm process ends, but not when the parent of npm ends', async () => {
  const shell = spawn('sh', [
    '-c',
    'PORT=0 npm start -- --table memory 2>&1 & echo "npm $!"; read -r _',
  ])
  const output = outputOf([shell.stdout])
  await eventually(() => expect(output()).toContain('Try it'))
  const npm = Number(/^npm (\d+)$/m.exec(output())?.[1])
  onTestFinished(() => {
    if (commandOf(npm) !== undefined) process.kill(npm, 'SIGKILL')
  })
  const banner = readBanner(output())

  shell.stdin.end()
  await once(shell, 'exit')
  // The gateway checks several times in this time whether its parent has ended.
  await sleep(1_000)
  const creation = await merchantAt(banner).create(VA, 'orphaned')
  process.kill(npm, 'SIGKILL')

  expect(creation.status).toBe(201)
  await expect.poll(() => answerOf(banner.api)).toBe('nothing')
})

it('a gateway with impossible options, on a machine without Java and Docker, prints what to do and exits', async () => {
  machineWith({})
  const installHint = 'install Java 17 or newer (JAVA_HOME or PATH), or start Docker'
  const impossiblePaths = [
    '/dev/null/data',
    ...(process.platform === 'linux' ? ['/proc/data'] : []),
  ]
  const inMemory = '--data cannot keep a table in memory'
  const cases: readonly (readonly [code: number, says: string, ...argv: string[]])[] = [
    ...impossiblePaths.map(
      (data) => [1, `cannot create or write the data directory ${data}`, '--data', data] as const,
    ),
    // An empty value, for example of an unset variable, does not mean the current directory.
    [2, '--data needs a value', '--data', ''],
    [1, `${inMemory}; ${installHint}`, '--data', tempDirectory()],
    [1, `${installHint}, or leave out --table`, '--table', 'dynamodb'],
    [
      2,
      `${inMemory}; leave out --data, or --table memory`,
      '--data',
      tempDirectory(),
      '--table',
      'memory',
    ],
    [2, '--table takes memory or dynamodb', '--table', 'paper'],
  ]

  const results = await runScripts(
    cases.map(([, , ...argv]) => ['infra/local/main.ts', ...argv] as const),
  )

  expect(results).toMatchObject(
    cases.map(([code, says]) => ({ code, err: expect.stringContaining(says) })),
  )
})

async function statusesOf(banner: Banner) {
  const { create } = merchantAt(banner)
  const creates = Array.from({ length: 60 }, (_, n) => create(VA, `limited-${n}`))
  return new Set((await Promise.all(creates)).map(({ status }) => status))
}

it('--limits prod limits the creates of a client', async () => {
  const gateway = spawnGateway({ args: ['--table', 'memory', '--limits', 'prod'] })

  expect(await statusesOf(await gateway.ready())).toStrictEqual(new Set([201, 429]))
})

it('without Java and Docker the table is in memory, as the banner says, and clients have no limit (design section 6)', async () => {
  machineWith({})
  const gateway = spawnGateway()

  const banner = await gateway.ready()

  expect(gateway.output()).toContain(
    'in the memory of this process: neither Java 17 nor Docker on this machine',
  )
  expect(await statusesOf(banner)).toStrictEqual(new Set([201]))
})

/*
 * Goal: a newcomer who pastes what `npm start` prints has a verified webhook. Method: the first
 * three blocks of the banner run in a shell, as they are printed. How long it takes:
 * docs/performance.md.
 */

it('the first commands of the banner, also with PORT=0, end with a paid payment and its verified webhook', async () => {
  const gateway = spawnGateway({ args: ['--table', 'memory'] })
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
