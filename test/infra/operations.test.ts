import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { functionName } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { ACTIONS } from '../../infra/operate/admin/action.ts'
import { parseDeployCommand } from '../../infra/operate/deploy/deploy-command.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { synthesised } from '../support/stack-template.ts'

const operations = readFileSync(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8')
const prod = synthesised('prod')

const matches = (pattern: RegExp): readonly string[] => [...operations.matchAll(pattern)].map(([, found = '']) => found)

describe('docs/operations.md', () => {
  it('gives shell that a shell can read', () => {
    const blocks = matches(/^ *```sh\n([\s\S]*?)^ *```$/gm)
    const broken = blocks.filter((block) => spawnSync('sh', ['-n'], { input: block }).status !== 0)

    expect(blocks.length).toBeGreaterThan(10)
    expect(broken).toStrictEqual([])
  })

  it('names only actions that operators can start', () => {
    const named = matches(/npm run -s admin -- ([a-z][a-z-]+)/g)

    expect(named.length).toBeGreaterThan(7)
    expect(named.filter((name) => !ACTIONS.some((spec) => spec.name === name))).toStrictEqual([])
  })

  it('gives deployments that the tool takes', () => {
    const commands = matches(/npm run deploy -- ([^`\n]+)/g)

    expect(commands.length).toBeGreaterThan(4)
    for (const command of commands) expect(parseDeployCommand(command.trim().split(/\s+/)).stage).toBe('prod')
  })

  it('names only functions and rules that exist', () => {
    const names = MANIFEST.map((spec) => functionName('prod', spec))
    const named = matches(/(?:--function-name |--name )(gateway-prod-[a-z-]*[a-z])/g)

    expect(named.length).toBeGreaterThan(2)
    expect(named.filter((name) => !names.includes(name))).toStrictEqual([])
  })

  it('restores every index, and what else the template says of the table', () => {
    const [table] = prod.ofType('AWS::DynamoDB::GlobalTable')
    const most = JSON.stringify(table?.properties['WriteOnDemandThroughputSettings'])

    expect(matches(/for index in ([a-z -]+); do/g)).toStrictEqual([Object.keys(TABLE_SCHEMA.indexes).join(' ')])
    expect(operations).toContain(`StreamViewType=${TABLE_SCHEMA.stream}`)
    expect(operations).toContain(`AttributeName=${TABLE_SCHEMA.ttl}`)
    expect(most).toBe('{"MaxWriteRequestUnits":20000}')
    expect(operations).toContain('MaxWriteRequestUnits=20000')
    expect(JSON.stringify(table?.properties['Replicas'])).toContain('"RecoveryPeriodInDays":35')
    expect(operations).toContain('RecoveryPeriodInDays=35')
  })
})
