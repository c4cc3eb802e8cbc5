import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, runCommand, UsageError } from '../../infra/local/terminal/command-line.ts'
import { makeCertificates } from './certificates.ts'
import { installMinistack, MINISTACK } from './emulator.ts'
import { runInNamespace } from './namespace.ts'
import { PARTS, rehearse } from './rehearse.ts'
import { CERTIFIED } from './world.ts'

const USAGE = `npm run rehearse [-- --keep] [--only PART,PART…]

Deploys the stage dev by the real \`npm run deploy\` to MiniStack ${MINISTACK}, an emulator of AWS, walks payments through it
over HTTPS, does what operators do, updates the stack, restores it, destroys it, and has every call of every function
judged by the policy of its role. Takes some minutes and prints what was done, and what the emulator cannot do.
Needs Linux on x86-64 with network namespaces of its own (root, or unprivileged user namespaces), Python 3.10 or newer,
openssl and, the first time, PyPI: the emulator is installed into a virtual environment in the system's temporary
directory. Nothing leaves the namespace.
  --keep       keeps the directory with logs and verdicts, and says where it is
  --only       the first deployment, a merchant, and these parts alone: ${PARTS.join(', ')}
  --help, -h   this text
Exit code: 0 all went well, 1 something did not, 2 called wrongly.`

/** Set where the program runs for the second time, inside the namespaces: its directory. */
const INSIDE = 'REHEARSAL_DIRECTORY'

const outside = async (keep: boolean, argv: readonly string[]): Promise<number> => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-rehearsal-'))
  try {
    await installMinistack()
    const { authority } = await makeCertificates(directory, CERTIFIED)
    const env = { ...process.env, [INSIDE]: directory, NODE_EXTRA_CA_CERTS: authority }
    const code = await runInNamespace(process.execPath, [import.meta.filename, ...argv], env)
    if (code !== undefined) return code
    console.error('This machine makes no namespaces for us: run it as root, or allow unprivileged user namespaces.')
    return 1
  } finally {
    if (keep) console.log(`Logs and verdicts: ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
}

process.exitCode = await runCommand(USAGE, process.argv.slice(2), async (argv) => {
  const { keep = false, only } = readOptions(argv, { keep: { type: 'boolean' }, only: { type: 'string' } } as const)
  const named = only?.split(',') ?? []
  const unknown = named.filter((name) => !PARTS.some((part) => part === name))
  if (unknown.length > 0) throw new UsageError(`there is no part ${unknown.join(', ')}`)
  const directory = process.env[INSIDE]
  const chosen = PARTS.filter((part) => named.includes(part))
  return directory === undefined ? outside(keep, argv) : rehearse(directory, chosen)
})
