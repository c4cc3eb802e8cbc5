import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Block } from './document-blocks.ts'
import { eventually } from './eventually.ts'
import { outputOf, runTool } from './run-tool.ts'
import { PROJECT_ROOT } from './source-file.ts'
import { tempDirectory } from './temp-directory.ts'

export function makeProject(directory: string) {
  cpSync(join(PROJECT_ROOT, 'docs/examples'), directory, { recursive: true })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
}

export async function missingFor(block: Block) {
  const { needs } = languageOf(block)
  const { code } = await runTool(needs, [needs === 'go' ? 'version' : '--version'])
  return code === 0 ? undefined : needs
}

type Language = {
  readonly file: string
  readonly needs: string
  readonly run: (port: number) => readonly string[]
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  ts: { file: 'receiver.ts', needs: process.execPath, run: () => [process.execPath, 'main.ts'] },
  js: { file: 'main.js', needs: process.execPath, run: () => [process.execPath, 'main.js'] },
  python: { file: 'receiver.py', needs: 'python3', run: () => ['python3', 'receiver.py'] },
  // Built first, because the child of `go run` would outlive it.
  go: { file: 'receiver.go', needs: 'go', run: () => ['./receiver'] },
  php: {
    file: 'receiver.php',
    needs: 'php',
    run: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
}

function languageOf({ language }: Block) {
  const found = LANGUAGES[language]
  if (!found) throw new Error(`there is no way to run ${language}`)
  return found
}

/** A server for each block that only handles requests. */
const HOSTS: Readonly<Record<string, string>> = {
  fetch: `
import { createServer } from 'node:http'
import app from './receiver.ts'
createServer(async (request, response) => {
  const init = { method: request.method, headers: request.headers, body: request, duplex: 'half' }
  const answer = await app.fetch(new Request('http://shop.example' + request.url, init))
  response.writeHead(answer.status).end(await answer.text())
}).listen(Number(process.env.PORT))`,
  lambda: `
import { createServer } from 'node:http'
import { handler } from './receiver.ts'
createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('base64')
  const answer = await handler({ headers: request.headers, body, isBase64Encoded: true })
  response.writeHead(answer.statusCode).end(answer.body)
}).listen(Number(process.env.PORT))`,
}

export async function startReceiver(
  block: Block,
  { port, secret }: { readonly port: number; readonly secret: string },
) {
  const directory = tempDirectory()
  const { file, run } = languageOf(block)
  writeFileSync(join(directory, file), block.text)
  if (block.language === 'ts' || block.language === 'js') makeProject(directory)
  if (block.language === 'ts') {
    writeFileSync(join(directory, 'main.ts'), HOSTS[block.note] ?? `import './receiver.ts'`)
  }
  if (block.language === 'go') {
    // Not synchronously: the gateway runs in this process, and its deadlines would pass meanwhile.
    const built = await runTool('go', ['build', '-o', 'receiver', 'receiver.go'], {
      cwd: directory,
    })
    if (built.code !== 0) throw new Error(built.errors)
  }
  const [command = '', ...args] = run(port)
  const env = { ...process.env, PORT: String(port), SIGNING_SECRET: secret, TMPDIR: directory }
  const child = spawn(command, args, { cwd: directory, env })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  })
  const output = outputOf([child.stdout, child.stderr])
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${output()}`)
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' })
  })
  return { output }
}
