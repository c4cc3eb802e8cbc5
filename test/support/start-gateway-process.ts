import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null]

export type GatewayStart = {
  readonly args?: readonly string[]
  readonly port?: number
  readonly nodeArgs?: readonly string[]
}

const MAIN = join(import.meta.dirname, '../../infra/local/main.ts')

/** The last words of a banner that is complete enough to be read. */
const READY = 'Try it'

/** `npm start` as a process of its own. The test that starts it ends it. */
export const startGatewayProcess = ({ args = [], port = 0, nodeArgs = [] }: GatewayStart = {}) => {
  const child = spawn(process.execPath, [...nodeArgs, MAIN, ...args], {
    // Not npm's child: it would end itself when its parent is not npm.
    env: { ...process.env, PORT: String(port), npm_lifecycle_event: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close').then(([code, signal]): Exit => [code, signal])
  const { promise: printed, resolve } = Promise.withResolvers<void>()
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes(READY)) resolve()
    })
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    /** Resolves when it is ready, with what its banner says. Rejects with its output when it ends before, or is late. */
    ready: async (withinMs = 60_000) => {
      const late = AbortSignal.timeout(withinMs)
      await Promise.race([printed, exited, once(late, 'abort')])
      if (!output.includes(READY)) throw new Error(`the gateway did not start: ${output}`)
      return readBanner(output)
    },
    exited,
    end: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return exited
    },
  }
}

export const readBanner = (output: string) => {
  const found = (pattern: RegExp) => pattern.exec(output)?.[1] ?? ''
  return {
    api: found(/API +(http\S+)\/v1/),
    lambda: found(/Lambda Invoke +(http\S+)/),
    provider: found(/Provider +(http\S+)/),
    inbox: found(/Webhook inbox +(http\S+)\/received/),
    apiKey: found(/API key +(\S+)/),
    tablePid: Number(found(/DynamoDB Local, process (\d+)/)),
  }
}

export type Banner = ReturnType<typeof readBanner>
