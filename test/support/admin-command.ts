import { Command, CommanderError } from 'commander'
import { vi } from 'vitest'
import { type ActionCall, defineAction } from '../../infra/operate/admin/action-command.ts'
import type { ActionDescription } from '../../infra/operate/admin/listed-actions.ts'
import { runAdmin } from '../../infra/operate/admin/run-admin.ts'
import { json, type Script, startScriptedServer } from './scripted-server.ts'

export function askedOf(described: ActionDescription, args: readonly string[], operator?: string) {
  let asked: ActionCall | undefined
  let error = ''
  const command = new Command('an-action').exitOverride()
  command.configureOutput({ writeErr: (text) => (error += text.replace(/^error: |\n$/g, '')) })
  defineAction(command, described, operator, (given) => {
    asked = given
  })
  try {
    command.parse(args, { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown
  }
  return { asked, error }
}

export const CLIENT = json(200, { status: 200, body: { client_id: 'c1', name: 'Warung' } })

/** A stage on AWS, whose Lambda is the server of the test. */
export function onAws(url: string) {
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', url)
  for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    vi.stubEnv(name, 'ap-southeast-3')
}

export async function cli(script: Script, env: Record<string, string> = {}) {
  const server = await startScriptedServer(script)
  const run = async (...argv: string[]) => {
    const out: string[] = []
    const err: string[] = []
    const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text) }
    // A slow machine would print the progress of a command.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const code = await runAdmin(argv, {
      ...io,
      env: { PORT: String(Number(new URL(server.url).port) - 1), ...env },
    })
    vi.useRealTimers()
    return { code, out: out.join('\n'), err: err.join('\n') }
  }
  const called = () =>
    server.requests.map(({ url, body }) => ({ url, body: JSON.parse(body) as unknown }))
  return { run, server, called }
}
