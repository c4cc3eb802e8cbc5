import { join } from 'node:path'
import { parseYaml, stringifyYaml } from '@redocly/openapi-core'
import * as v from 'valibot'
import { describeApi } from './describe-api.ts'
import { recordExamples } from './record-examples.ts'
import { type Schema, schemasAsTypescript } from './schemas-as-typescript.ts'

/** The file of the description. */
export const API_DOCUMENT = join(import.meta.dirname, '../../../docs/openapi.yaml')

const HEAD = '# Written by `npm run openapi -- --write`; a test compares.\n'

/** The current description of the API, as YAML text. */
export const apiDocument = async (): Promise<string> =>
  HEAD + stringifyYaml(await describeApi(await recordExamples()), { lineWidth: -1, noRefs: true })

/** The same schemas as TypeScript, for the client in docs/examples. */
export const CLIENT_SCHEMAS = join(import.meta.dirname, '../../../docs/examples/gateway-schemas.ts')

const Described = v.object({
  components: v.object({
    schemas: v.record(
      v.string(),
      v.custom<Schema>((schema) => typeof schema === 'object'),
    ),
  }),
})

/** The schemas of a description as TypeScript. */
export const clientSchemas = (document: string): string =>
  schemasAsTypescript(v.parse(Described, parseYaml(document)).components.schemas)
