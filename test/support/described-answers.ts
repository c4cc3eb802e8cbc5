import { parseYaml } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isJson, type Json } from '../../infra/local/openapi/json-schema-of.ts'
import { projectText } from './source-file.ts'

export const DESCRIPTION = parseYaml(projectText('docs/openapi.yaml')) as Json & {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Json>>
  readonly webhooks: Readonly<Record<string, Json>>
}

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema(closed(DESCRIPTION) as Json, 'description')

export function faultsOf(pointer: string, value: unknown) {
  const validate = ajv.getSchema(`description#${pointer}`)
  if (!validate) return [`nothing is described at ${pointer}`]
  return validate(value)
    ? []
    : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`)
}

export function undescribed({
  method,
  path,
  status,
  headers,
  text,
}: Pick<Response, 'status' | 'headers'> & Readonly<Record<'method' | 'path' | 'text', string>>) {
  // Fixed segments win, as in the gateway.
  const template = Object.keys(DESCRIPTION.paths)
    .filter((known) => method.toLowerCase() in (DESCRIPTION.paths[known] ?? {}))
    .toSorted()
    .find((known) => new RegExp(`^${known.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
  // A path without a route is answered 404 with the envelope.
  if (template === undefined && status === 404)
    return faultsOf('/components/schemas/Error', JSON.parse(text))
  const { pointer, found } = at(
    `/paths/${escaped(template ?? '')}/${method.toLowerCase()}/responses/${status}`,
  )
  if (found === undefined) return [`${method} ${path} answers ${status}, which is not described`]
  const response = found as { readonly headers?: Json; readonly content: Json }
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  if (!(type in response.content)) return [`${type} is not described`]
  return [
    ...Object.keys(response.headers ?? {}).flatMap((name) => {
      const header = at(`${pointer}/headers/${escaped(name)}`)
      const value = headers.get(name)
      if (value !== null)
        return faultsOf(`${header.pointer}/schema`, value).map((fault) => `${name}:${fault}`)
      return Object(header.found).required === true ? [`${name} is missing`] : []
    }),
    ...faultsOf(
      `${pointer}/content/${escaped(type)}/schema`,
      type === 'application/json' ? JSON.parse(text) : text,
    ),
  ]
}

function at(pointer: string): { readonly pointer: string; readonly found: unknown } {
  const names = pointer.split('/').slice(1)
  const found = names.reduce<unknown>(
    (value, name) => Object(value)[name.replaceAll('~1', '/').replaceAll('~0', '~')],
    DESCRIPTION,
  )
  return isJson(found) && typeof found['$ref'] === 'string'
    ? at(found['$ref'].slice(1))
    : { pointer, found }
}

function escaped(name: string) {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Merchants must ignore unknown fields; here a field that is not described is a fault. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (!isJson(value)) return value
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, content]) => [name, closed(content)]),
  )
  return inner['type'] === 'object' && inner['properties']
    ? { additionalProperties: false, ...inner }
    : inner
}
