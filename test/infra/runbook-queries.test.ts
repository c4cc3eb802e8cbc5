/**
 * Goal: the queries of the runbook name codes and fields that log lines have. Method: the parsed code shows which files
 * write a line of each code, and which fields these files know. A query may use the fields of the codes that it names, or
 * of all codes if it names none.
 */
import { expect, it } from 'vitest'
import { FRONT_LOG_FIELDS } from '../../infra/stack/edge/front-stack.ts'
import { ACCESS_LOG_FIELDS } from '../../infra/stack/triggers/gateway-http-api.ts'
import { WORK_SLOTS } from '../../shared/table/schema.ts'
import { matchesIn } from '../support/document-blocks.ts'
import { projectText, type SourceFile, sourcesIn } from '../support/source-file.ts'

const runbook = projectText('docs/runbook.md')
const CODES = matchesIn(projectText('shared/log.ts'), /^ {2}\| '([a-z_]+\.[a-z_]+)'$/gm)

const sources = sourcesIn('shared', 'functions')

function keysIn({ nodes }: SourceFile): readonly string[] {
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

/** The codes of the lines that a file writes. */
function writtenIn(file: SourceFile): readonly string[] {
  return file.nodes.flatMap((node) => {
    if (node.type !== 'CallExpression' || !/\blog(\.\w+|\[)/.test(textOf(file, node.callee)))
      return []
    const [code] = node.arguments
    if (code?.type === 'TemplateLiteral') {
      const pattern = textOf(file, code)
        .slice(1, -1)
        .replaceAll(/\$\{.*?\}/g, '[a-z_]+')
      return CODES.filter((one) => new RegExp(`^${pattern}$`).test(one))
    }
    // A code under a name is one of those that the file has, as in a table.
    const text = code?.type === 'Identifier' ? file.text : code && textOf(file, code)
    return CODES.filter((one) => text?.includes(`'${one}'`))
  })
}

function named(path: string) {
  return sources.filter((file) => file.path === path).flatMap(keysIn)
}

/** The fields that a line may have, by its code. */
const FIELDS = new Map(
  CODES.map((code) => [
    code,
    [
      // The client who asked.
      ...(code.startsWith('request.') ? named('shared/client/authenticate.ts') : []),
      ...sources
        .filter((file) => writtenIn(file).includes(code))
        .flatMap((file) => [
          ...keysIn(file),
          // Fields that a function of another file adds.
          ...file.imports.flatMap(({ path = '', typeOnly }) =>
            !typeOnly && /\/log(ged-[a-z]+)?\.ts$/.test(path) ? named(path) : [],
          ),
        ]),
    ],
  ]),
)

const WORDS =
  /^(?:filter|stats|sort|desc|asc|by|and|or|in|like|fields|display|limit|count|count_distinct|sum|min|max|pct|latest|bin|n|\d+[mhd]?)$/

/** The fields that a query names, without its texts and the names that it gives to its counts. */
function fieldsOf(query: string): readonly string[] {
  const own = matchesIn(query, / as (\w+)/g)
  const bare = query.replaceAll(/"[^"]*"|\/[^/]*\/|`/g, ' ').replaceAll(/ as \w+/g, ' ')
  return matchesIn(bare, /([@\w][\w.-]*)/g).filter(
    (name) => !WORDS.test(name) && !own.includes(name),
  )
}

/** Lambda's and CloudWatch's own are left out: the latter begin with @. */
function unknownIn(query: string, known: readonly string[]): readonly string[] {
  return fieldsOf(query).filter(
    (name) => !/^(?:@|type$|record\.status$)/.test(name) && !known.includes(name),
  )
}

/** With those of every line, or of the line of any error. */
function lines(query: string): readonly string[] {
  const asked = CODES.filter((code) => query.includes(code))
  const ofCodes = (asked.length > 0 ? asked : CODES).flatMap((code) => FIELDS.get(code) ?? [])
  return [...named('shared/runtime/json-log.ts'), ...ofCodes]
}

const fenced = matchesIn(runbook, /```logs\n([\s\S]*?)\n```/g)
const asked = [...runbook.matchAll(/^ask \d+ '([^']*)'(?:\s+(?:\\\n\s*)?(\/aws\/\S+))?/gm)].map(
  ([, query = '', group = '']) => ({ query, group }),
)
const ofFunctions = [
  ...fenced,
  ...asked.filter(({ group }) => group === '').map(({ query }) => query),
]
function ofGroup(part: string) {
  return asked.filter(({ group }) => group.includes(part)).map(({ query }) => query)
}

it('a query of the runbook names codes and fields of lines that the code writes', () => {
  const codes = fenced.flatMap((query) => matchesIn(query, /"([a-z_]+\.[a-z_]+)"/g))

  expect(ofFunctions.length).toBeGreaterThan(20)
  expect(codes.filter((code) => !CODES.includes(code) && code !== 'platform.report')).toStrictEqual(
    [],
  )
  expect(ofFunctions.flatMap((query) => unknownIn(query, lines(query)))).toStrictEqual([])
})

it('a query of an access log names fields of that log', () => {
  expect([ofGroup('/http-api/').length, ofGroup('/cloudfront/').length]).toStrictEqual([5, 1])
  expect(
    ofGroup('/http-api/').flatMap((query) => unknownIn(query, Object.keys(ACCESS_LOG_FIELDS))),
  ).toStrictEqual([])
  expect(
    ofGroup('/cloudfront/').flatMap((query) => unknownIn(query, FRONT_LOG_FIELDS)),
  ).toStrictEqual([])
})

it('a field that no line of a code has would be found', () => {
  const query =
    'filter message = "settlement.recorded" | stats count() as n by reason, latency_ms | sort n desc'

  expect(unknownIn(query, lines(query))).toStrictEqual(['reason', 'latency_ms'])
})
