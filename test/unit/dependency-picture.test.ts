import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { dependencyPicture, importsOf, mermaidOf } from '../dependency-picture.ts'
import { PROJECT_ROOT, parseSource, sourcesIn } from '../support/source-file.ts'

const arrowsOf = (mermaid: string) => [...mermaid.matchAll(/^ {2}(\w+ --> \w+)$/gm)].map(([, arrow]) => arrow)

it('docs/dependencies.md shows the code as it is; otherwise: npm run picture -- --write', () => {
  const document = readFileSync(join(PROJECT_ROOT, 'docs/dependencies.md'), 'utf8')

  const picture = dependencyPicture(sourcesIn('shared', 'functions', 'infra'))
  expect(document).toBe(withWritten(document, 'picture', picture))
})

describe('the picture', () => {
  it('tells code that is loaded from types that are erased', () => {
    const sources = [
      parseSource('shared/sync/a.ts', `import { b } from '../payment/fee/b.ts'\nimport type { C } from '../money.ts'`),
      parseSource('shared/payment/fee/b.ts', `import { type C, minor } from '../../money.ts'`),
      parseSource('shared/money.ts', `import type { A } from './sync/a.ts'\nimport { z } from 'zod'`),
    ]
    const loaded = { shared: [], 'shared/payment': ['shared'], 'shared/sync': ['shared/payment'] }
    const erased = { shared: ['shared/sync'], 'shared/payment': [], 'shared/sync': ['shared'] }

    expect([...importsOf(sources, 'values')]).toStrictEqual(Object.entries(loaded))
    expect([...importsOf(sources, 'types')]).toStrictEqual(Object.entries(erased))
  })

  it('leaves out an arrow that a longer way says too, and shows folders in a circle as one box', () => {
    const mermaid = mermaidOf(
      new Map([
        ['shared/event', ['shared/webhook', 'shared/table']],
        ['shared/sync', ['shared/webhook', 'shared/table']],
        ['shared/webhook', ['shared/event', 'shared/table']],
        ['shared/table', []],
      ]),
    )

    expect(mermaid).toContain('shared_event["event, webhook"]')
    expect(mermaid).not.toContain('["webhook"]')
    expect(arrowsOf(mermaid)).toStrictEqual(['shared_event --> shared_table', 'shared_sync --> shared_event'])
  })
})
