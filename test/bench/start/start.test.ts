import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'

it('the table of starts in docs/performance.md has every function: `npm run bench -- start --write`', () => {
  const document = readFileSync(join(PROJECT_ROOT, 'docs/performance.md'), 'utf8')
  const section = document.split('bench -- start --write` -->')[1]?.split('<!-- end of what is written -->')[0] ?? ''
  const rows = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = '']) => name)

  expect(rows.toSorted()).toStrictEqual(MANIFEST.map(({ name }) => name).toSorted())
})
