import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null]

const MAIN = join(import.meta.dirname, '../../infra/local/main.ts')
const READY_TIMEOUT_MS = 30_000

/** `npm start` as a process of its own. */
export const spawnGateway = ({
  args = [],
  port = 0,
}: {
  readonly args?: readonly string[]
  readonly port?: number
} = {}) => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    // Not npm's child: it would end itself when its parent is not npm.
    env: { ...process.env, PORT: String(port), npm_lifecycle_event: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Also when the test failed before it came to its end.
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'close').then(([code, signal]): Exit => [code, signal])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return {
    pid: child.pid ?? 0,
    /** What it has printed so far, on both outputs. */
    output: () => output,
    /** Resolves when it is ready, with what its banner says. Throws with its output when it ends before. */
    ready: async () => {
      const settled = () => output.includes('Try it') || child.exitCode !== null
      await vi.waitUntil(settled, { timeout: READY_TIMEOUT_MS, interval: 50 })
      if (!output.includes('Try it')) throw new Error(`the gateway did not start: ${output}`)
      return readBanner(output)
    },
    /** Resolves with exit code and signal when it is gone. */
    exited,
    /** Sends the signal and waits until it is gone. */
    end: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return exited
    },
  }
}

/** What the gateway says of itself once it is ready. */
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
