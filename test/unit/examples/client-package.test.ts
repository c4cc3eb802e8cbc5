import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as client from '../../../docs/examples/gateway-client.ts'
import * as receiver from '../../../docs/examples/receive-webhooks.ts'
import * as retrying from '../../../docs/examples/retrying-gateway.ts'
import * as servers from '../../../docs/examples/webhook-servers.ts'
import {
  buildClientPackage,
  PACKAGE_NAME,
} from '../../../infra/local/client-package/build-client-package.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { blocksOf } from '../../support/document-blocks.ts'
import { runTool } from '../../support/run-tool.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

/*
 * Goal: a merchant's project uses the package as it is. Method: the package is built into a project
 * without one of our files, which compiles with stricter options than most, and loads it in both
 * ways. Node 20, npm's install and the servers: `npm run clients -- package`.
 */

const STRICT =
  '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess ' +
  '--noPropertyAccessFromIndexSignature --module nodenext --target es2022 --types node --noEmit'

const built = mkdtempSync(join(tmpdir(), 'gateway-package-'))
beforeAll(() => buildClientPackage(built))
afterAll(() => rmSync(built, { recursive: true }))

function projectWithPackage() {
  const project = tempDirectory()
  const modules = join(project, 'node_modules')
  cpSync(built, join(modules, PACKAGE_NAME), { recursive: true })
  symlinkSync(join(PROJECT_ROOT, 'node_modules/@types'), join(modules, '@types'))
  return project
}

const NAMES = [client, receiver, retrying, servers].flatMap((module) => Object.keys(module))

describe('the package of the client', () => {
  it('exports everything of docs/examples, to import and to require', async () => {
    const cwd = projectWithPackage()
    const show = 'console.log(Object.keys(client).join())'
    writeFileSync(join(cwd, 'a.mjs'), `import * as client from '${PACKAGE_NAME}'\n${show}`)
    writeFileSync(join(cwd, 'b.cjs'), `const client = require('${PACKAGE_NAME}')\n${show}`)

    for (const file of ['a.mjs', 'b.cjs']) {
      const { code, output, errors } = await runTool(process.execPath, [file], { cwd })
      expect({ code, errors }).toStrictEqual({ code: 0, errors: '' })
      expect(output.trim().split(',').toSorted()).toStrictEqual(NAMES.toSorted())
    }
  })

  it('has types that pass strict options, also without skipLibCheck, in both module systems', async () => {
    const cwd = projectWithPackage()
    const [example] = blocksOf('docs/examples/README.md')
    for (const name of ['use.mts', 'use.cts']) writeFileSync(join(cwd, name), example?.text ?? '')
    writeFileSync(
      join(cwd, 'wrong.mts'),
      `import { gatewayClient } from '${PACKAGE_NAME}'\n` +
        `gatewayClient({ baseUrl: '', apiKey: '' }).createPayment({ method: 'cash' })`,
    )
    const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc')

    const args = [tsc, '--ignoreConfig', ...STRICT.split(' '), 'use.mts', 'use.cts', 'wrong.mts']

    const { output } = await runTool(process.execPath, args, { cwd })

    // Types that were not found would refuse nothing.
    expect(output.split('\n').filter((line) => line.includes('error'))).toStrictEqual([
      expect.stringMatching(/^wrong\.mts.*error (TS2322|TS2345)/),
    ])
  })

  it('has the version and the licence of the project, and depends on nothing', () => {
    const about = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))

    const { version, license } = packageJson
    expect(about).toMatchObject({ name: PACKAGE_NAME, version, license })
    expect(about).not.toHaveProperty('dependencies')
    expect(readdirSync(built).toSorted()).toStrictEqual(
      ['LICENSE', 'README.md', 'cjs', 'esm', 'package.json'].toSorted(),
    )
  })
})
