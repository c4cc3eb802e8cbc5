import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { dependencyPicture } from '../dependency-picture.ts'
import { PROJECT_ROOT, sourcesIn } from '../support/source-file.ts'

it('docs/dependencies.md shows the code as it is; otherwise: npm run picture -- --write', () => {
  const document = readFileSync(join(PROJECT_ROOT, 'docs/dependencies.md'), 'utf8')

  const picture = dependencyPicture(sourcesIn('shared', 'functions', 'infra'))
  expect(document).toBe(withWritten(document, 'picture', picture))
})
