import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PATIENCE_MS } from './patience.ts'
import { outputOf } from './run-tool.ts'
import { PROJECT_ROOT } from './source-file.ts'

export type GatewayStart = {
  readonly args?: readonly string[]
  readonly port?: number
  readonly env?: NodeJS.ProcessEnv
}

/** The last words of a banner that is complete enough to be read. */
const READY = 'Try it'

/** The test that starts the process ends it. */
export function startGatewayProcess({ args = [], port = 0, env }: GatewayStart = {}) {
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'infra/local/main.ts'), ...args], {
    // The gateway must not take npm for its parent: then it would end itself.
    env: { ...process.env, ...env, PORT: String(port), npm_lifecycle_event: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited: Promise<unknown[]> = once(child, 'close')
  const { promise: printed, resolve } = Promise.withResolvers<void>()
  const output = outputOf([child.stdout, child.stderr], () => output().includes(READY) && resolve())
  return {
    pid: child.pid ?? 0,
    output,
    /** Rejects with the output if the gateway ends before, or is late. */
    ready: async () => {
      const late = AbortSignal.timeout(PATIENCE_MS)
      await Promise.race([printed, exited, once(late, 'abort')])
      if (!output().includes(READY)) throw new Error(`the gateway did not start: ${output()}`)
      return readBanner(output())
    },
    exited,
    end: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return exited
    },
  }
}

export function readBanner(output: string) {
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
