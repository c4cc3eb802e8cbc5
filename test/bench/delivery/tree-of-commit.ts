import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../../support/source-file.ts'

const run = promisify(execFile)
const LOCK = 'package-lock.json'

const lockOf = (tree: string): Promise<string> => readFile(join(tree, LOCK), 'utf8')

/** The files of a commit in a directory of their own, with the packages of that commit; the repository is left alone. */
export const treeOfCommit = async (commit: string) => {
  const path = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
  const close = () => rm(path, { recursive: true, force: true })
  try {
    const archive = join(path, 'tree.tar')
    await run('git', ['archive', '--output', archive, commit], { cwd: PROJECT_ROOT })
    await run('tar', ['-xf', archive, '-C', path])
    if ((await lockOf(path)) === (await lockOf(PROJECT_ROOT))) {
      await symlink(join(PROJECT_ROOT, 'node_modules'), join(path, 'node_modules'))
    } else await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: path })
    return { path, close }
  } catch (error) {
    await close()
    throw error
  }
}
