import { join } from 'node:path'
import { stringifyYaml } from '@redocly/openapi-core'
import { describeApi } from './describe-api.ts'
import { recordExamples } from './record-examples.ts'

/** Where the description is kept. */
export const API_DOCUMENT = join(import.meta.dirname, '../../../docs/openapi.yaml')

const HEAD = '# Written by `npm run openapi -- --write`; a test compares.\n'

/** The description of the API as it is now, as text. */
export const apiDocument = async (): Promise<string> =>
  HEAD + stringifyYaml(await describeApi(await recordExamples()), { lineWidth: -1, noRefs: true })
