import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type Resource, synthesised } from '../../support/stack-template.ts'

const template = synthesised('prod')
const steps = template.ofType('Custom::DeploymentStep')
const STEP = 'gateway-prod-split-provider-secret'

/** Everything that must be there before a resource, however many steps before. */
const before = (resource: Resource): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = ({ dependsOn, properties }: Resource) => {
    const text = JSON.stringify(properties)
    for (const other of template.resources) {
      const isNamed = dependsOn.includes(other.logicalId) || text.includes(`<${other.logicalId}>`)
      if (!isNamed || found.has(other.logicalId)) continue
      found.add(other.logicalId)
      visit(other)
    }
  }
  visit(resource)
  return found
}

describe('steps of a deployment', () => {
  it('are the functions that the manifest says a deployment runs, with a deadline', () => {
    expect(steps.map(({ properties }) => properties)).toStrictEqual([
      { ServiceToken: `<${STEP}>.Arn`, ServiceTimeout: '300' },
    ])
  })

  it('run before any other function, version or alias changes', () => {
    const [step] = steps
    const changing = [
      ...template.ofType('AWS::Lambda::Function').filter(({ properties }) => properties['FunctionName'] !== STEP),
      ...template.ofType('AWS::Lambda::Version'),
      ...template.ofType('AWS::Lambda::Alias'),
    ]

    expect(changing.length).toBeGreaterThan(MANIFEST.length)
    expect(changing.filter((resource) => !before(resource).has(step?.logicalId ?? '?'))).toStrictEqual([])
  })
})
