import { dependencyPicture } from './dependency-picture.ts'
import { sourcesIn } from './support/source-file.ts'
import { writePart } from './written-part.ts'

const PICTURE = {
  script: 'picture',
  does: 'Reads the imports of shared, functions and infra, and prints which folder uses which.',
  document: 'docs/dependencies.md',
}

await writePart(PICTURE, async () => dependencyPicture(sourcesIn('shared', 'functions', 'infra')))
