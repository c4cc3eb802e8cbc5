import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PROJECT_ROOT } from '../support/source-file.ts'

/** One POSIX shell that runs one block after the other, as a person pastes them. It stops at the first that fails. */
export const shellSession = (env: Readonly<Record<string, string>>) => {
  // A group of its own: what the blocks leave in the background ends with it.
  const shell = spawn('sh', ['-eu'], { cwd: PROJECT_ROOT, env: { ...process.env, ...env }, detached: true })
  const exited = once(shell, 'exit')
  const closed = once(shell, 'close')
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text.replaceAll('\r', '')
    })
  }
  let blocks = 0
  return {
    /** All that it has printed so far, on both outputs. */
    output: () => output,
    /** Answers what the block has printed. Throws when a command of it failed. */
    run: async (text: string): Promise<string> => {
      blocks += 1
      const mark = `\u0001block ${blocks} is done\u0001`
      const from = output.length
      shell.stdin.write(`${text}\nprintf '%s' '${mark}'\n`)
      while (!output.includes(mark, from)) {
        if (shell.exitCode !== null) throw new Error(`failed:\n${text}\nand printed:\n${output.slice(from)}`)
        await Promise.race([once(shell.stdout, 'data'), exited])
      }
      return output.slice(from).replace(mark, '')
    },
    close: async () => {
      try {
        process.kill(-(shell.pid ?? 0), 'SIGKILL')
      } catch {
        // It has ended, and nothing of it is left.
      }
      await closed
    },
  }
}
