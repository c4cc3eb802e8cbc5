import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { matchesIn } from '../support/document-blocks.ts'
import { PROJECT_ROOT, projectText } from '../support/source-file.ts'

const FORMS = '.github/ISSUE_TEMPLATE'

type Field = {
  readonly type: string
  readonly id?: string
  readonly attributes: { readonly label?: string; readonly value?: string }
}
type Form = { readonly name: string; readonly description: string; readonly body: readonly Field[] }

describe('the forms for issues and pull requests', () => {
  const forms = readdirSync(join(PROJECT_ROOT, FORMS)).filter((name) => name !== 'config.yml')

  it.each(forms)('%s asks named questions, and sends vulnerabilities to SECURITY.md', (name) => {
    const form = parseYaml(projectText(`${FORMS}/${name}`)) as Form
    const questions = form.body.filter(({ type }) => type !== 'markdown')
    const ids = questions.map(({ id }) => id)
    const notes = form.body.map(({ attributes }) => attributes.value ?? '').join('')

    expect([form.name, form.description]).not.toContain('')
    expect(new Set(ids).size).toBe(questions.length)
    expect(ids).not.toContain(undefined)
    expect(questions.filter(({ attributes }) => !attributes.label)).toStrictEqual([])
    expect(notes).toContain('[SECURITY.md](../security/policy)')
  })

  it('are the only way to open an issue', () => {
    const config = parseYaml(projectText(`${FORMS}/config.yml`))

    expect(config).toStrictEqual({ blank_issues_enabled: false })
    expect(projectText('SECURITY.md')).toContain('**Report a vulnerability**')
  })

  it('name files and scripts that exist', () => {
    const files = ['.github/pull_request_template.md', ...forms.map((name) => `${FORMS}/${name}`)]
    const texts = files.map(projectText).join('\n')
    const paths = matchesIn(texts, /`([\w./-]+\.md|\.ci\/\w+)`/g)
    const scripts = matchesIn(texts, /`npm run ([\w:-]+)`/g)

    expect(Math.min(paths.length / 3, scripts.length)).toBeGreaterThanOrEqual(1)
    expect(paths.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toStrictEqual([])
    expect(scripts.filter((script) => !(script in packageJson.scripts))).toStrictEqual([])
  })
})
