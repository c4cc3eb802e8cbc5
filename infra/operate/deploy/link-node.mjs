/**
 * Runs after every install, on whatever Node installs (20 or newer): puts the pinned Node, which comes as the one
 * optional package that fits this machine, where every script finds it first. npm does so itself, but versions before
 * 11 lose the link when they drop the packages for other machines, which have a `node` too.
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
    // A link with this name is found before the command files that npm writes, and needs no rights of its own.
    rmSync(join(bin, 'node.exe'), { force: true })
    linkSync(join(modules, name, 'bin/node.exe'), join(bin, 'node.exe'))
  } else {
    rmSync(join(bin, 'node'), { force: true })
    symlinkSync(join('..', name, 'bin/node'), join(bin, 'node'))
  }
}
