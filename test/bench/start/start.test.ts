import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROVER, stackNameOf } from '../../../infra/stack/stack-name-of.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { synthesised } from '../../support/stack-template.ts'

describe('the table of starts in docs/performance.md', () => {
  it('has every function of prod but the prover, and no other: `npm run bench -- start --write`', () => {
    const document = readFileSync(join(PROJECT_ROOT, 'docs/performance.md'), 'utf8')
    const section = document.split('bench -- start --write` -->')[1]?.split('<!-- end of what is written -->')[0] ?? ''
    const rows = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => `gateway-prod-${name}`)
    const functions = synthesised('prod')
      .ofType('AWS::Lambda::Function')
      .map(({ properties }) => String(properties['FunctionName']))
      // Only a deployment starts it.
      .filter((name) => name !== stackNameOf(deployedStage('prod'), PROVER))

    expect(rows.toSorted()).toStrictEqual(functions.toSorted())
  })
})
