/**
 * Runs after every install, on the Node that installs (20 or newer). Links the pinned Node where every script finds
 * it first. The pinned Node is the one optional package that fits this machine. npm links it too, but npm versions
 * before 11 lose the link when they remove the packages for other machines, which also have a `node`.
 */
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const modules = join(root, 'node_modules')
const name = Object.keys(optionalDependencies).find((option) => existsSync(join(modules, option)))

if (name === undefined) {
  console.error(
    `No Node package for ${process.platform} ${process.arch}: the scripts run on your own Node, which must be 24.`,
  )
} else {
  const bin = join(modules, '.bin')
  mkdirSync(bin, { recursive: true })
  if (process.platform === 'win32') {
    // Windows finds a link with this name before the command files of npm. The link needs no extra rights.
    rmSync(join(bin, 'node.exe'), { force: true })
    linkSync(join(modules, name, 'bin/node.exe'), join(bin, 'node.exe'))
  } else {
    rmSync(join(bin, 'node'), { force: true })
    symlinkSync(join('..', name, 'bin/node'), join(bin, 'node'))
  }
}
