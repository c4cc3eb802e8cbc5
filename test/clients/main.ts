import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoWalk } from '../../infra/local/demo-walk.ts'
import { startLocalCloud } from '../../infra/local/local-cloud.ts'
import { runProgram, UsageError } from '../../infra/local/terminal/command-line.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'

type Generator = { readonly program: string; readonly commands: readonly string[] }

const GENERATORS: Readonly<Record<string, Generator>> = {
  python: {
    program: 'use_python.py',
    commands: [
      'python3 -m venv venv',
      'venv/bin/pip install -q --disable-pip-version-check openapi-python-client==0.29.1 ' +
        'ruff==0.15.10',
      'PATH=$PWD/venv/bin:$PATH openapi-python-client generate --path openapi.yaml ' +
        '--output-path gateway --meta none',
      'venv/bin/python use_python.py',
    ],
  },
  typescript: {
    program: 'use-typescript.ts',
    commands: [
      'npm install --silent --no-save --prefix . typescript@5.9.3 @types/node@24.19.2 ' +
        'openapi-typescript@7.13.0 openapi-fetch@0.17.0',
      'npx openapi-typescript openapi.yaml -o gateway.ts',
      'npx tsc --strict --skipLibCheck --module nodenext --target es2022 ' +
        '--allowImportingTsExtensions --noEmit use-typescript.ts',
      'node use-typescript.ts',
    ],
  },
  go: {
    program: 'use_go.go',
    commands: [
      'go mod init gateway',
      'go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -generate ' +
        'types,client -package main -o gateway.go openapi.yaml',
      'go mod tidy',
      'go run .',
    ],
  },
  // Our own client, as `npm run pack` makes it, in a project as `npm init` makes it.
  package: {
    program: 'use-package.ts',
    commands: [
      'npm run --silent --prefix "$PROJECT" pack -- --out "$PWD"',
      'rm package.json && npm init -y > init.json',
      'npm install --silent payment-gateway-client-*.tgz typescript@5.9.3 @types/node@20.19.43 ' +
        'express@5.3.0 @types/express@5.0.6 fastify@5.12.8 hono@4.13.19 @types/aws-lambda@8.10.164',
      'npm install --silent --prefix node20 node@20.20.2',
      'npm install --silent --prefix node24 node@24.21.0',
      'cp use-package.ts use-package.mts && mv use-package.ts use-package.cts',
      'npx tsc --strict --exactOptionalPropertyTypes --module nodenext --target es2022 ' +
        '--esModuleInterop --outDir out use-package.mts use-package.cts',
      'for node in node20 node24; do for kind in mjs cjs; do RUN=$node-$kind ' +
        '$node/node_modules/.bin/node out/use-package.$kind || exit 1; done; done',
    ],
  },
}

const USAGE = `npm run clients [-- python|typescript|go|package …]

Generates clients from docs/openapi.yaml with openapi-python-client, openapi-typescript and oapi-codegen, and uses
each, unedited, on its own gateway. \`package\` is the client of docs/examples: npm installs the tarball of \`npm run pack\`
into a new project, as ESM and as CommonJS, on Node 20 and 24. Needs Python 3.11, npm and Go with their registries. It
works in a folder of the system's temporary directory, and removes it.
  --help, -h   this text
Exit code: 0 all clients work, 1 one does not, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const unknown = argv.find((name) => GENERATORS[name] === undefined)
  if (unknown !== undefined)
    throw new UsageError(`${unknown}: one of ${Object.keys(GENERATORS).join(', ')}`)
  const cloud = await startLocalCloud({ port: 0, writeLog: () => undefined })
  let failed = 0
  try {
    await demoWalk(cloud, () => undefined)
    for (const [name, generator] of Object.entries(GENERATORS)) {
      if (argv.length > 0 && !argv.includes(name)) continue
      const works = await use(generator, {
        GATEWAY_URL: cloud.urls.api,
        GATEWAY_KEY: cloud.demoClient.api_key,
        PROJECT: PROJECT_ROOT,
      })
      if (!works) failed++
      console.log(`client of ${name}: ${works ? 'works' : 'FAILED'}`)
    }
  } finally {
    await cloud.close()
  }
  return failed === 0 ? 0 : 1
})

async function use({ program, commands }: Generator, env: NodeJS.ProcessEnv) {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-client-'))
  try {
    await copyFile(join(PROJECT_ROOT, 'docs/openapi.yaml'), join(folder, 'openapi.yaml'))
    await copyFile(join(import.meta.dirname, program), join(folder, program))
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    const options = { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } } as const
    const [code]: unknown[] = await once(
      spawn('bash', ['-c', commands.join(' && ')], options),
      'close',
    )
    return code === 0
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
