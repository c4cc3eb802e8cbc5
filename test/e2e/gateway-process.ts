import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'

/** `npm start` as a process of its own. */
export type GatewayProcess = {
  readonly pid: number
  /** What it has printed so far, on both outputs. */
  output(): string
  /** Resolves when it is ready, with what its banner says. Throws with its output when it ends before. */
  ready(): Promise<Banner>
  kill(signal: NodeJS.Signals): void
  /** Resolves with exit code and signal when it is gone. */
  readonly exited: Promise<readonly [number | null, NodeJS.Signals | null]>
}

export type Banner = {
  readonly api: string
  readonly lambda: string
  readonly provider: string
  readonly inbox: string
  readonly apiKey: string
  readonly tablePid: number
}

const MAIN = join(import.meta.dirname, '../../infra/local/main.ts')
const READY_TIMEOUT_MS = 30_000

export const spawnGateway = (
  options: { readonly args?: readonly string[]; readonly port?: number } = {},
): GatewayProcess => {
  const child = spawn(process.execPath, [MAIN, ...(options.args ?? [])], {
    // Not npm's child: it would end itself when its parent is not npm.
    env: { ...process.env, PORT: String(options.port ?? 0), npm_lifecycle_event: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Also when the test failed before it came to its end.
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    ready: async () => {
      const settled = () => output.includes('Try it') || child.exitCode !== null
      await vi.waitUntil(settled, { timeout: READY_TIMEOUT_MS, interval: 50 })
      if (!output.includes('Try it')) throw new Error(`the gateway did not start: ${output}`)
      return readBanner(output)
    },
    kill: (signal) => void child.kill(signal),
    exited: once(child, 'close').then(([code, signal]) => [code, signal]),
  }
}

export const readBanner = (output: string): Banner => {
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
