import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { RETRIED_CODES } from '../../docs/examples/retrying-gateway.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { channelTable } from '../../infra/local/openapi/channel-table.ts'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { ACTIONS } from '../../infra/operate/admin/action.ts'
import { parseDeployCommand } from '../../infra/operate/deploy/run-deploy.ts'
import { deployedStage } from '../../infra/stack/stage.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { HTTP_STATUS } from '../../shared/errors.ts'
import { EVENT_TYPES, STATUS_EVENT_TYPES, TEST_EVENT_TYPE } from '../../shared/event/event.ts'
import { REVERSAL_KINDS } from '../../shared/journal/payment-money.ts'
import { FAILURE_REASONS } from '../../shared/payment-status.ts'
import { timestampOf } from '../../shared/time.ts'
import { WAITS_MS } from '../../shared/webhook/send/record-attempt-result.ts'
import { CLIENT_ROUTES } from '../support/api-event.ts'
import { anchorsOf, blocksOf, matchesIn } from '../support/document-blocks.ts'
import { makeProject, missingFor } from '../support/receiver-program.ts'
import { PROJECT_ROOT, projectText } from '../support/source-file.ts'
import { tempDirectory } from '../support/temp-directory.ts'

function markdownIn(folder: string) {
  return readdirSync(join(PROJECT_ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

const DOCUMENTS = [
  ...markdownIn('.'),
  ...markdownIn('docs'),
  ...markdownIn('docs/merchants'),
  ...markdownIn('shared'),
]
/** The forms for issues and pull requests name commands too. */
const FORMS = ['.github/ISSUE_TEMPLATE/bug.yml', '.github/pull_request_template.md']
const README = projectText('README.md')

function isBroken(document: string, link: string) {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? document : join(dirname(document), path)
  if (!existsSync(join(PROJECT_ROOT, target))) return true
  return anchor !== undefined && !anchorsOf(projectText(target)).includes(anchor)
}

describe('the documents of the project', () => {
  it('are linked from the README', () => {
    const linked = matchesIn(README, /\]\(([^)#]+)(?:#[^)]*)?\)/g)

    expect(
      DOCUMENTS.filter((path) => path !== 'README.md' && !linked.includes(path)),
    ).toStrictEqual([])
  })

  it.each(DOCUMENTS)('%s has no broken link, and names no missing file', (document) => {
    const links = matchesIn(projectText(document), /\]\((?!https?:)([^)\s]+)\)/g)
    const named = matchesIn(
      projectText(document),
      /`((?:docs|functions|infra|shared|test)\/[\w./-]+)`/g,
    )

    expect(links.filter((link) => isBroken(document, link))).toStrictEqual([])
    expect(named.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toStrictEqual([])
  })

  it('give only commands that exist', () => {
    const matchesOf = (pattern: RegExp) =>
      [...DOCUMENTS, ...FORMS].flatMap((path) => matchesIn(projectText(path), pattern))
    const [named, actions] = [
      matchesOf(/npm run (?:-s )?([a-z][a-z:-]*)/g),
      matchesOf(/npm run -s admin -- ([a-z][a-z-]+)/g),
    ]
    const deployments = matchesOf(/npm run deploy -- (--stage [^`\n#]+)/g)

    expect(Math.min(named.length / 20, actions.length / 7, deployments.length / 4)).toBeGreaterThan(
      1,
    )
    expect(named.filter((name) => !(name in packageJson.scripts))).toStrictEqual([])
    const words = ['today', 'month', 'completion', ...ACTIONS.map(({ name }) => name)]
    expect(actions.filter((name) => !words.includes(name))).toStrictEqual([])
    for (const line of deployments)
      expect(parseDeployCommand(line.trim().split(/\s+/)).stage).toBe('prod')
  })
})

describe('the first deployment in docs/operations.md', () => {
  const operations = projectText('docs/operations.md')
  const [section = ''] = matchesIn(
    operations,
    /^## 1\. The first deployment.*\n([^]+?)^Before the first merchant/gm,
  )
  const [provider = ''] = matchesIn(operations, /^## 3\. The provider\n([^]+?)^## 4/gm)
  const [introduction = '', ...actions] = section.split(/^\d+\. /m)

  it('takes at most twelve manual actions, each with at most one command', () => {
    const commands = actions.map((action) =>
      matchesIn(action, /```sh\n([\s\S]+?)```/g).flatMap((block) => block.trim().split('\n')),
    )

    expect(actions.length).toBeGreaterThan(8)
    expect(actions.length).toBeLessThanOrEqual(12)
    expect(commands.filter((lines) => lines.length > 1)).toStrictEqual([])
    expect(introduction).not.toMatch(/```|`npm|`aws/)
  })

  it('counts each step at the provider as a separate action', () => {
    const steps = matchesIn(provider, /^(\d+)\. /gm)
    const named = matchesIn(section, /section 3, step (\d+)\./g)

    // The last step is the doctor, which --init runs.
    expect(named).toStrictEqual(steps.slice(0, -1))
    expect(actions.at(-1)).toMatch(/^`npm run deploy -- --stage prod --init` again/)
  })
})

it('the table of the API in the README has every route that merchants call', () => {
  const cells = matchesIn(README, /^\| (`(?:GET|POST) .*?`) \|/gm)
  const named = cells.flatMap((cell) => matchesIn(cell, /`([^`]+)`/g))

  expect(named.toSorted()).toStrictEqual(CLIENT_ROUTES.toSorted())
})

it('the table of money movements in the README names functions of the manifest and files of the domain', () => {
  const steps = matchesIn(
    README,
    /^\| ((?:created|paid, credited|announced|posted|settled|paid out) .*) \|$/gm,
  )
  const filesIn = (folder: string, column: number) =>
    steps
      .flatMap((row) => matchesIn(row.split(' | ')[column] ?? '', /`([^`]+)`/g))
      .map((name) => `${folder}/${name}.ts`)
  const entries = MANIFEST.map(({ entry }) => entry)
  const [named, paths] = [filesIn('functions', 2), filesIn('shared', 3)]

  expect(Math.min(named.length, paths.length)).toBeGreaterThan(7)
  expect(named.filter((entry) => !entries.includes(entry))).toStrictEqual([])
  expect(paths.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toStrictEqual([])
})

/*
 * Compares figures and lists of merchants' pages with the code. The commands of these pages:
 * test/e2e/merchant-*.
 */

const QUICKSTART = 'docs/merchants.md'
const PAGES = ['payments', 'errors', 'webhooks', 'settlements'].map(
  (page) => `docs/merchants/${page}.md`,
)
const [merchants = '', payments = '', errors = '', webhooks = ''] = [QUICKSTART, ...PAGES].map(
  projectText,
)

function rows(text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map(([, ...cells]) => cells)
}

it('every error code is explained once, with its status, and whether the example client retries it', () => {
  const explained = rows(errors, /^\| `([a-z_]+)` \| (\d{3}) \| (yes|no)/gm)
  const statuses = Object.entries(HTTP_STATUS).toSorted(([, a], [, b]) => a - b)
  const retriedCodes = explained.flatMap(([code, , again]) => (again === 'yes' ? [code] : []))

  expect(explained.map(([code, status]) => [code, Number(status)])).toStrictEqual(statuses)
  expect(new Set(retriedCodes)).toStrictEqual(new Set(RETRIED_CODES))
})

it('the table of channels is up to date; otherwise: npm run openapi -- --write', () => {
  expect(withWritten(payments, 'openapi', channelTable(timestampOf(Date.now())))).toBe(payments)
})

it('every failure reason is explained', () => {
  const explained = rows(payments, /^\| `([a-z_]+)` \| [^|]+ \| [^|]+ \|$/gm).flat()

  expect(
    explained.filter((name) => FAILURE_REASONS.some((reason) => reason === name)),
  ).toStrictEqual(FAILURE_REASONS)
})

it('the waits between attempts equal those of the schedule', () => {
  const wait = (ms: number) => (ms <= 60_000 ? `${ms / 1_000} seconds` : `${ms / 60_000} minutes`)

  expect(rows(webhooks, /^\| \d \| ([^|]+) \|$/gm).flat()).toStrictEqual([
    'at once',
    ...WAITS_MS.map(wait),
  ])
})

it('the table of events has every event, in order', () => {
  const events = rows(webhooks, /^\| `((?:payment|settlement|gateway)\.[a-z]+)` \|/gm).flat()

  expect(events).toStrictEqual([...EVENT_TYPES, TEST_EVENT_TYPE])
})

it('every receiver that computes a signature needs a secret, and compares in constant time (spec 6.3)', () => {
  const texts = blocksOf('docs/merchants/webhooks.md')
    .filter(({ note, text }) => note === 'receiver' && /hmac/i.test(text))
    .map(({ text }) => text)

  expect(texts).toHaveLength(3)
  for (const text of texts)
    expect(text).toMatch(/(SystemExit|Fatal|500[^]* exit)\(.SIGNING_SECRET is not set/)
  for (const text of [...texts, projectText('docs/examples/receive-webhooks.ts')])
    expect(text).toMatch(/timingSafeEqual\(|compare_digest\(|hmac\.Equal\(|hash_equals\(/)
})

it('the page of webhooks names the events of which a payment has at most one', () => {
  const [, named = ''] = /at most one of (.*?`)\./.exec(webhooks) ?? []

  expect(rows(named, /`([a-z.]+)`/g).flat()).toStrictEqual([...STATUS_EVENT_TYPES])
})

it('the rate limits are those of production, and every kind of reversal is listed', () => {
  const { clientRateLimit, clientCreateLimit } = deployedStage('prod').settings
  expect(merchants).toContain(`${clientRateLimit} unless agreed otherwise`)
  expect(merchants).toContain(`${clientCreateLimit} creates unless agreed otherwise`)
  const [[kinds = ''] = []] = rows(payments, /^\| `kind` \| ([^|]*) \|$/gm)
  expect(rows(kinds, /`([a-z_]+)`/g).flat()).toStrictEqual([...REVERSAL_KINDS])
})

describe('code blocks that are no commands', () => {
  it.for([
    ['python', 'python3', '-c', 'import ast, sys; ast.parse(sys.stdin.read())'],
    ['go', 'gofmt', '-d', '-e'],
  ])(
    'with a library have valid syntax: %s',
    async ([language, command = '', ...args], { skip }) => {
      const block = blocksOf('docs/merchants/webhooks.md').find(
        (candidate) => candidate.note === 'library' && candidate.language === language,
      )
      if (!block) throw new Error('the page has no such block')
      if ((await missingFor(block)) !== undefined) skip(`there is no ${language} on this machine`)

      const { status, stdout, stderr } = spawnSync(command, args, {
        input: block.text,
        encoding: 'utf8',
      })

      expect({ status, stdout, stderr }).toStrictEqual({ status: 0, stdout: '', stderr: '' })
    },
  )

  it('in TypeScript pass strict types, also inside shell blocks', () => {
    const directory = tempDirectory()
    makeProject(directory)
    const programs = [QUICKSTART, ...PAGES].flatMap((page) =>
      blocksOf(page).flatMap(({ language, text }) =>
        language === 'ts' ? [text] : rows(text, /<<'END'\n(.*?)^END$/gms).flat(),
      ),
    )
    for (const [index, text] of programs.entries())
      writeFileSync(join(directory, `block-${index}.ts`), text)
    writeFileSync(join(directory, 'express.d.ts'), `declare module 'express'`)
    const options =
      '--strict --noUncheckedIndexedAccess --noEmit --skipLibCheck --allowImportingTsExtensions ' +
      '--module nodenext --target es2024 --types node --ignoreConfig'
    const files = readdirSync(directory).filter((name) => name.endsWith('.ts'))
    const args = ['tsc', ...options.split(' '), ...files.map((name) => join(directory, name))]

    const { status, stdout } = spawnSync('npx', args, { cwd: PROJECT_ROOT, encoding: 'utf8' })

    expect(programs.length).toBeGreaterThan(6)
    expect({ status, stdout }).toStrictEqual({ status: 0, stdout: '' })
  })

  it('in SQL insert an event once', () => {
    const [insert] = blocksOf('docs/merchants/webhooks.md').filter(
      ({ language }) => language === 'sql',
    )
    using database = new DatabaseSync(':memory:')
    database.exec('CREATE TABLE webhook_events (event_id TEXT PRIMARY KEY)')
    const statement = database.prepare(insert?.text ?? '')

    expect([statement.run().changes, statement.run().changes]).toStrictEqual([1, 0])
  })

  it('are all of a kind that a test checks', () => {
    const kinds = new Set(
      [QUICKSTART, ...PAGES]
        .flatMap(blocksOf)
        .map(({ language, note }) => `${language} ${note}`.trim()),
    )

    expect([...kinds].toSorted().join(', ')).toBe(
      'go library, go receiver, js receiver, json, json body, mermaid, php receiver, python ' +
        'library, python receiver, ' +
        'sh, sh start, sql, text, ts fetch, ts lambda, ts receiver',
    )
  })
})
