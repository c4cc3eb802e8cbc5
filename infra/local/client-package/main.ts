import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions, runProgram, UsageError } from '../terminal/command-line.ts'
import { buildClientPackage } from './build-client-package.ts'

const USAGE = `npm run pack [-- --out DIR]

Builds the client of docs/examples as a package, for ESM and CommonJS, with types. Writes its tarball, which npm
installs. Publishes nothing.
  --out DIR    where to write it. Default: this folder
  --help, -h   this text
Exit code: 0 written, 1 failed, 2 wrong arguments.`

const PACK_TIMEOUT_MS = 60_000

await runProgram(USAGE, async (argv) => {
  const { out = '.' } = readOptions(argv, { out: { type: 'string' } })
  if (!existsSync(out)) throw new UsageError(`there is no folder ${out}`)
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pack-'))
  try {
    buildClientPackage(folder)
    const args = ['pack', '--silent', '--pack-destination', resolve(out)]
    // On Windows npm is a script, which only a shell starts.
    const shell = process.platform === 'win32'
    const { status, stdout, stderr, error } = spawnSync('npm', args, {
      cwd: folder,
      encoding: 'utf8',
      shell,
      timeout: PACK_TIMEOUT_MS,
    })
    if (status !== 0) {
      console.error(`npm pack failed: ${error?.message ?? stderr}`)
      return 1
    }
    console.log(join(out, stdout.trim()))
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
