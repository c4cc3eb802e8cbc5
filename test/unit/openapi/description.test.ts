import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import {
  API_DOCUMENT,
  CLIENT_SCHEMAS,
  clientSchemas,
  schemasAsTypescript,
} from '../../../infra/local/openapi/api-document.ts'
import { EXAMPLE_SECRET } from '../../../infra/local/openapi/record-examples.ts'
import { signatureOf } from '../../../shared/webhook/send/webhook-headers.ts'
import { CLIENT_ROUTES } from '../../support/api-event.ts'
import { DESCRIPTION, undescribed } from '../../support/described-answers.ts'
import { projectText } from '../../support/source-file.ts'

/** Words and examples: what they say may change without a version. */
const WORDS = ['description', 'summary', 'example', 'examples', 'info', 'servers', 'tags']

/** A merchant's field may be called like a word of OpenAPI: below `properties` a name is a name. */
function contractOf(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((inner) => contractOf(inner))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => areNames || !WORDS.includes(name))
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, contractOf(inner, !areNames && name === 'properties')]),
  )
}

describe('docs/openapi.yaml', () => {
  it('describes every function that merchants call, and no other', () => {
    const described = Object.entries(DESCRIPTION.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )

    expect(described.toSorted()).toStrictEqual(CLIENT_ROUTES.toSorted())
  })

  it('passes the strict rules of Redocly without a warning', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const lint = async (source: string) =>
      (await lintFromString({ source, config })).map(
        ({ ruleId, message }) => `${ruleId}: ${message}`,
      )

    expect(await lint(projectText('docs/openapi.yaml'))).toStrictEqual([])
    expect(await lint('openapi: 3.1.0')).not.toStrictEqual([])
  })

  it('has a line in the changelog for its version: raise API_VERSION with what merchants notice, and say what', () => {
    const digest = hash('sha256', JSON.stringify(contractOf(DESCRIPTION))).slice(0, 12)
    const line = `API description ${DESCRIPTION.info.version} (contract \`${digest}\`)`

    expect(projectText('CHANGELOG.md').match(/API description \S+ \(contract `\w+`\)/)?.[0]).toBe(
      line,
    )
  })

  it.each(Object.entries(DESCRIPTION.webhooks))(
    'shows %s with signatures that verify',
    (event, webhook) => {
      const { parameters, requestBody } = Object(webhook['post'])
      const headers = Object.fromEntries(
        (parameters as { name: string; example: string }[]).map(({ name, example }) => [
          name,
          example,
        ]),
      )
      const body = JSON.stringify(requestBody.content['application/json'].example)
      vi.setSystemTime(Number(headers['webhook-timestamp']) * 1_000)

      const verified = new Webhook(EXAMPLE_SECRET).verify(body, headers)

      vi.useRealTimers()
      expect(verified).toMatchObject({ event, event_id: headers['webhook-id'] })
      expect(headers['X-Gateway-Signature']).toBe(signatureOf(EXAMPLE_SECRET, Buffer.from(body)))
    },
  )
})

it('the client in docs/examples has the types of the description, and no unknown types; otherwise: npm run openapi -- --write', () => {
  expect(readFileSync(CLIENT_SCHEMAS, 'utf8')).toBe(
    clientSchemas(readFileSync(API_DOCUMENT, 'utf8')),
  )
  expect(() => schemasAsTypescript({ A: { type: 'tuple' } })).toThrow(
    'no type for {"type":"tuple"}',
  )
})

it('an answer is held against the description by its status, its fields and its type', () => {
  const headers = new Headers({ 'content-type': 'application/json', 'x-request-id': 'one' })
  const right = {
    method: 'GET',
    path: '/v1/balance',
    status: 401,
    headers,
    text: '{"message":"no","code":"auth"}',
  }
  const faultsWith = (changes: object) => undescribed({ ...right, ...changes })

  expect(faultsWith({})).toStrictEqual([])
  expect(faultsWith({ status: 418 })).toStrictEqual([
    'GET /v1/balance answers 418, which is not described',
  ])
  expect(faultsWith({ text: '{"message":"","code":"auth","odd":1}' })).toStrictEqual([
    ' must NOT have additional properties',
  ])
  expect(faultsWith({ headers: new Headers({ 'content-type': 'text/html' }) })).toStrictEqual([
    'text/html is not described',
  ])
})
