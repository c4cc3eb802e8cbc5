import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '../support/run-tool.ts'

/** 6bone's, unassigned since 2006: public to the gateway, and no host on the internet has it. */
export const MERCHANT_ADDRESS = '3ffe::1'

/** Where the merchant's name and every other leads is the rehearsal's own business. */
const NAME_SERVER = '127.0.0.1'

/**
 * Runs a program as the first one of namespaces of its own: no network but a loopback interface, so that nothing leaves
 * the machine whatever it tries, and its own mounts and processes, which end with it. Answers its exit code; undefined
 * where this machine does not let us.
 */
export const runInNamespace = async (program: string, args: readonly string[], env: NodeJS.ProcessEnv) => {
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

/** Inside: a loopback interface with an address that counts as public, and names that only we answer. */
export const furnishNamespace = async (directory: string): Promise<void> => {
  const must = async (program: string, ...args: readonly string[]) => {
    const { code, output } = await runTool(program, args)
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output}`)
  }
  await must('ip', 'link', 'set', 'lo', 'up')
  // Of documentation, and not loopback: without one of its own the system looks no name up for IPv4.
  await must('ip', 'addr', 'add', '192.0.2.1/32', 'dev', 'lo')
  await must('ip', '-6', 'addr', 'add', `${MERCHANT_ADDRESS}/128`, 'dev', 'lo', 'nodad')
  const settings = {
    'resolv.conf': `nameserver ${NAME_SERVER}\n`,
    hosts: '127.0.0.1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }
  for (const [name, text] of Object.entries(settings)) {
    writeFileSync(join(directory, name), text)
    if (existsSync(`/etc/${name}`)) await must('mount', '--bind', join(directory, name), `/etc/${name}`)
  }
}
