import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8')
const markdownIn = (folder: string) =>
  readdirSync(join(PROJECT_ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))

const DOCUMENTS = [...markdownIn('.'), ...markdownIn('docs'), ...markdownIn('docs/merchants'), ...markdownIn('shared')]
const README = read('README.md')

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)

/** What a heading is called in a link. */
const anchorsOf = (text: string) =>
  matches(text, /^#+ (.+)$/gm).map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )

const leadsNowhere = (document: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? document : join(dirname(document), path)
  if (!existsSync(join(PROJECT_ROOT, target))) return true
  return anchor !== undefined && !anchorsOf(read(target)).includes(anchor)
}

describe('what a person reads', () => {
  it('is found from the README', () => {
    const linked = matches(README, /\]\(([^)#]+)(?:#[^)]*)?\)/g)

    expect(DOCUMENTS.filter((path) => path !== 'README.md' && !linked.includes(path))).toStrictEqual([])
  })

  it.each(DOCUMENTS)('%s has no link that leads nowhere', (document) => {
    const links = matches(read(document), /\]\((?!https?:)([^)\s]+)\)/g)

    expect(links.filter((link) => leadsNowhere(document, link))).toStrictEqual([])
  })

  it.each(DOCUMENTS)('%s names no file that is not there', (document) => {
    const named = matches(read(document), /`((?:docs|functions|infra|shared|test)\/[\w./-]+)`/g)

    expect(named.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toStrictEqual([])
  })

  it('asks for version 2 of the AWS CLI before its first command', () => {
    const texts = [...DOCUMENTS, 'infra/local/terminal/banner.ts'].map((path) => [path, read(path)] as const)
    const commands = /\baws [a-z]+(?:-[a-z]+)* /
    const withCommands = texts.filter(([, text]) => commands.test(text))
    const asking = withCommands.filter(([, text]) => /AWS CLI \(?version 2/.test(text.split(commands, 1)[0] ?? ''))

    expect(withCommands.length).toBeGreaterThan(2)
    expect(asking).toStrictEqual(withCommands)
  })
})

describe('the first deployment in docs/operations.md', () => {
  const [, section = ''] =
    /^## 1\. The first deployment[^\n]*\n([\s\S]+?)^Before the first merchant/m.exec(read('docs/operations.md')) ?? []
  const [, provider = ''] = /^## 3\. The provider\n([\s\S]+?)^## 4/m.exec(read('docs/operations.md')) ?? []
  const [before = '', ...actions] = section.split(/^\d+\. /m)

  it('takes at most twelve actions by hand, with one command each at most', () => {
    const commands = actions.map((action) =>
      matches(action, /```sh\n([\s\S]+?)```/g).flatMap((block) => block.trim().split('\n')),
    )

    expect(actions.length).toBeGreaterThan(8)
    expect(actions.length).toBeLessThanOrEqual(12)
    expect(commands.filter((lines) => lines.length > 1)).toStrictEqual([])
    expect(before).not.toMatch(/```|`npm|`aws/)
  })

  it('counts each step at the provider as an action of its own', () => {
    const steps = matches(provider, /^(\d+)\. /gm)
    const named = matches(section, /section 3, step (\d+)\./g)

    // The last one is the doctor, which --init asks.
    expect(named).toStrictEqual(steps.slice(0, -1))
    expect(actions.at(-1)).toMatch(/^`npm run deploy -- --stage prod --init` again/)
  })
})

describe('the way of the money in the README', () => {
  const cells = matches(README, /^\| ((?:created|paid, credited|announced|posted|settled|paid out) .*) \|$/gm)
    .map((row) => row.split(' | '))
    .map(([, , functions = '', files = '']) => ({
      functions: matches(functions, /`([^`]+)`/g),
      files: matches(files, /`([^`]+)`/g),
    }))

  it('names functions of the manifest and files of the domain', () => {
    const entries = MANIFEST.map(({ entry }) => entry)
    const named = cells.flatMap(({ functions }) => functions.map((name) => `functions/${name}.ts`))
    const paths = cells.flatMap(({ files }) => files.map((name) => `shared/${name}.ts`))

    expect(Math.min(named.length, paths.length)).toBeGreaterThan(7)
    expect(named.filter((entry) => !entries.includes(entry))).toStrictEqual([])
    expect(paths.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toStrictEqual([])
  })
})
