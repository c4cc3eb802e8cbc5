import { runAdmin } from '../../infra/operate/admin/run-admin.ts'
import { type Script, startScriptedServer } from './scripted-server.ts'

/** The tool against an Invoke API that answers as scripted. */
export const cli = async (script: Script, env: Record<string, string> = {}) => {
  const server = await startScriptedServer(script)
  const port = Number(new URL(server.url).port)
  const run = async (...argv: string[]) => {
    const out: string[] = []
    const err: string[] = []
    const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text) }
    const code = await runAdmin(argv, { ...io, env: { PORT: String(port - 1), ...env } })
    return { code, out: out.join('\n'), err: err.join('\n') }
  }
  return {
    run,
    server,
    called: () => server.requests.map(({ url, body }) => ({ url, body: JSON.parse(body) as unknown })),
  }
}
