import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answersClients, routeKeyOf } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { ACTIONS } from '../../infra/operate/admin/action.ts'
import { parseDeployCommand } from '../../infra/operate/deploy/run-deploy.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { anchorsOf, matchesIn } from '../support/document-blocks.ts'
import { PROJECT_ROOT, projectText } from '../support/source-file.ts'

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
  const routes = MANIFEST.filter(answersClients).flatMap((spec) => routeKeyOf(spec) ?? [])

  expect(named.toSorted()).toStrictEqual(routes.toSorted())
})

it('the table of money movements in the README names functions of the manifest and files of the domain', () => {
  const rows = matchesIn(
    README,
    /^\| ((?:created|paid, credited|announced|posted|settled|paid out) .*) \|$/gm,
  )
  const filesIn = (folder: string, column: number) =>
    rows
      .flatMap((row) => matchesIn(row.split(' | ')[column] ?? '', /`([^`]+)`/g))
      .map((name) => `${folder}/${name}.ts`)
  const entries = MANIFEST.map(({ entry }) => entry)
  const [named, paths] = [filesIn('functions', 2), filesIn('shared', 3)]

  expect(Math.min(named.length, paths.length)).toBeGreaterThan(7)
  expect(named.filter((entry) => !entries.includes(entry))).toStrictEqual([])
  expect(paths.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toStrictEqual([])
})
