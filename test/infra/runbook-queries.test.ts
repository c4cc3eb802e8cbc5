/**
 * Goal: the queries of the runbook name codes and fields that log lines have. Method: the parsed
 * code shows which files write a line of each code, and which fields these files know. A query may
 * use the fields of the codes that it names, or of all codes if it names none.
 */
import { expect, it } from 'vitest'
import { FRONT_LOG_FIELDS } from '../../infra/stack/front-stack.ts'
import { FRONT_REGION } from '../../infra/stack/stage.ts'
import { ACCESS_LOG_FIELDS } from '../../infra/stack/triggers/gateway-http-api.ts'
import { WORK_SLOTS } from '../../shared/table/schema.ts'
import { matchesIn } from '../support/document-blocks.ts'
import { projectText, type SourceFile, sourcesIn } from '../support/source-file.ts'

const runbook = projectText('docs/runbook.md')
const CODES = matchesIn(projectText('shared/log.ts'), /^ {2}\| '([a-z_]+\.[a-z_]+)'$/gm)

const sources = sourcesIn('shared', 'functions')

function keysIn({ nodes }: SourceFile) {
  return nodes.flatMap((node) => {
    if (node.type !== 'Property') return []
    // `[kind.work]: done` of a worker of due work.
    if (node.computed) return Object.keys(WORK_SLOTS)
    return node.key.type === 'Identifier' ? [node.key.name] : []
  })
}

function textOf(
  { text }: SourceFile,
  { start, end }: { readonly start: number; readonly end: number },
) {
  return text.slice(start, end)
}

function writtenIn(file: SourceFile) {
  return file.nodes.flatMap((node) => {
    if (node.type !== 'CallExpression' || !/\blog(\.\w+|\[)/.test(textOf(file, node.callee)))
      return []
    const [code] = node.arguments
    if (code?.type === 'TemplateLiteral') {
      const pattern = textOf(file, code)
        .slice(1, -1)
        .replaceAll(/\$\{.*?\}/g, '[a-z_]+')
      return CODES.filter((candidate) => new RegExp(`^${pattern}$`).test(candidate))
    }
    // A code in a variable is one of the codes in the file, as in a table.
    const text = code?.type === 'Identifier' ? file.text : code && textOf(file, code)
    return CODES.filter((candidate) => text?.includes(`'${candidate}'`))
  })
}

function fieldsOfFile(path: string) {
  return sources.filter((file) => file.path === path).flatMap(keysIn)
}

const FIELDS = new Map(
  CODES.map((code) => [
    code,
    [
      ...(code.startsWith('request.') ? fieldsOfFile('shared/client/authenticate.ts') : []),
      ...sources
        .filter((file) => writtenIn(file).includes(code))
        .flatMap((file) => [
          ...keysIn(file),
          ...file.imports.flatMap(({ path = '', typeOnly }) =>
            !typeOnly && /\/log(ged-[a-z]+)?\.ts$/.test(path) ? fieldsOfFile(path) : [],
          ),
        ]),
    ],
  ]),
)

const WORDS =
  /^(?:filter|stats|sort|desc|asc|by|and|or|in|like|fields|display|limit|count|count_distinct|sum|min|max|pct|latest|bin|n|\d+[mhd]?)$/

function fieldsOf(query: string) {
  const countNames = matchesIn(query, / as (\w+)/g)
  const bare = query.replaceAll(/"[^"]*"|\/[^/]*\/|`/g, ' ').replaceAll(/ as \w+/g, ' ')
  return matchesIn(bare, /([@\w][\w.-]*)/g).filter(
    (name) => !WORDS.test(name) && !countNames.includes(name),
  )
}

/** Fields of Lambda and CloudWatch are left out. Those of CloudWatch begin with @. */
function unknownFields(query: string, knownFields: readonly string[]) {
  return fieldsOf(query).filter(
    (name) => !/^(?:@|type$|record\.status$)/.test(name) && !knownFields.includes(name),
  )
}

function fieldsFor(query: string) {
  const codes = CODES.filter((code) => query.includes(code))
  const ofCodes = (codes.length > 0 ? codes : CODES).flatMap((code) => FIELDS.get(code) ?? [])
  return [...fieldsOfFile('shared/runtime/json-log.ts'), ...ofCodes]
}

const fencedQueries = matchesIn(runbook, /```logs\n([\s\S]*?)\n```/g)
const askedQueries = [
  ...runbook.matchAll(
    /^(?:AWS_REGION=us-east-1 )?ask \d+ '([^']*)'(?:\s+(?:\\\n\s*)?(\/aws\/\S+))?/gm,
  ),
].map(([, query = '', group = '']) => ({ query, group }))
const functionQueries = [
  ...fencedQueries,
  ...askedQueries.filter(({ group }) => group === '').map(({ query }) => query),
]
function queriesOfGroup(part: string) {
  return askedQueries.filter(({ group }) => group.includes(part)).map(({ query }) => query)
}

it('a query of the runbook names codes and fields of lines that the code writes', () => {
  const codes = fencedQueries.flatMap((query) => matchesIn(query, /"([a-z_]+\.[a-z_]+)"/g))

  expect(functionQueries.length).toBeGreaterThan(20)
  expect(codes.filter((code) => !CODES.includes(code) && code !== 'platform.report')).toStrictEqual(
    [],
  )
  expect(functionQueries.flatMap((query) => unknownFields(query, fieldsFor(query)))).toStrictEqual(
    [],
  )
})

it('a query of an access log names fields of that log', () => {
  expect([
    queriesOfGroup('/http-api/').length,
    queriesOfGroup('/cloudfront/').length,
  ]).toStrictEqual([6, 1])
  expect(
    queriesOfGroup('/http-api/').flatMap((query) =>
      unknownFields(query, Object.keys(ACCESS_LOG_FIELDS)),
    ),
  ).toStrictEqual([])
  expect(
    queriesOfGroup('/cloudfront/').flatMap((query) => unknownFields(query, FRONT_LOG_FIELDS)),
  ).toStrictEqual([])
})

it('a query of the front’s log asks the region of the front', () => {
  const front = runbook.match(/^.*ask \d+ '[^']*'[^']*?\/aws\/vendedlogs\/cloudfront\//gm) ?? []

  expect(front).toStrictEqual([expect.stringMatching(`^AWS_REGION=${FRONT_REGION} ask`)])
})

it('the check finds a field that no line of the code has', () => {
  const query =
    'filter message = "settlement.recorded" | stats count() as n by reason, latency_ms | sort ' +
    'n desc'

  expect(unknownFields(query, fieldsFor(query))).toStrictEqual(['reason', 'latency_ms'])
})
