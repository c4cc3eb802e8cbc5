/** Fails if the lock file names a package without a checksum. */
import { readFileSync } from 'node:fs'

const { packages } = JSON.parse(readFileSync(process.argv[2] ?? 'package-lock.json', 'utf8'))
const unchecked = Object.entries(packages)
  .filter(([path, entry]) => path !== '' && !entry.link && !entry.inBundle && !entry.integrity)
  .map(([path, entry]) => `${path} ${entry.version}`)

for (const line of unchecked) console.error(`no checksum in package-lock.json: ${line}`)
process.exit(unchecked.length === 0 ? 0 : 1)
