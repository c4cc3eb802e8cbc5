import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '../support/run-tool.ts'

/**
 * From the 6bone, unassigned since 2006: the gateway takes it for public, but no host on the
 * internet has it.
 */
export const MERCHANT_ADDRESS = '3ffe::1'

/**
 * The network is a loopback interface alone, so that nothing leaves the machine. The mounts and
 * processes end with the program. Undefined where this machine makes no namespaces for us.
 */
export async function runInNamespace(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
) {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const unshare = [...asRoot, '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  if ((await runTool('unshare', [...unshare, 'true'])).code !== 0) return undefined
  const child = spawn('unshare', [...unshare, program, ...args], { env, stdio: 'inherit' })
  // unshare ignores these signals, and so does the first process of a namespace.
  const end = () => child.kill('SIGKILL')
  process.once('SIGINT', end).once('SIGTERM', end)
  const [code]: unknown[] = await once(child, 'close')
  return Number(code ?? 1)
}

/**
 * Inside the namespaces: sets the loopback interface up, with a public address, and our own name
 * server.
 */
export async function furnishNamespace(directory: string) {
  const must = async (program: string, ...args: readonly string[]) => {
    const { code, output } = await runTool(program, args)
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output}`)
  }
  await must('ip', 'link', 'set', 'lo', 'up')
  // An address for documentation. With loopback addresses alone, the system looks up no names for
  // IPv4.
  await must('ip', 'addr', 'add', '192.0.2.1/32', 'dev', 'lo')
  await must('ip', '-6', 'addr', 'add', `${MERCHANT_ADDRESS}/128`, 'dev', 'lo', 'nodad')
  const settings = {
    // The rehearsal resolves all names itself.
    'resolv.conf': 'nameserver 127.0.0.1\n',
    hosts: '127.0.0.1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }
  for (const [name, text] of Object.entries(settings)) {
    writeFileSync(join(directory, name), text)
    if (existsSync(`/etc/${name}`))
      await must('mount', '--bind', join(directory, name), `/etc/${name}`)
  }
}
