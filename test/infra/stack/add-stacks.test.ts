import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import cdkJson from '../../../cdk.json' with { type: 'json' }
import { addStacks } from '../../../infra/stack/add-stacks.ts'
import { OPTIONAL_STAGES } from '../../support/stage-options.ts'

let outdir: string

beforeEach(() => {
  outdir = mkdtempSync(join(tmpdir(), 'gateway-stacks-'))
})

afterEach(() => {
  rmSync(outdir, { recursive: true })
})

const stacksOf = (stage: (typeof OPTIONAL_STAGES)[string]) => {
  const app = new App({ outdir, context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] } })
  addStacks(app, stage)
  return app.synth().stacks.map(({ id, environment, dependencies, messages }) => ({
    id,
    environment: environment.name,
    after: dependencies.map((dependency) => dependency.id).filter((dependency) => !dependency.endsWith('.assets')),
    messages: messages.length,
  }))
}

const anywhere = 'aws://unknown-account/unknown-region'

describe('the stacks of a stage', () => {
  it.each(Object.entries(OPTIONAL_STAGES).filter(([, { front }]) => front === 'none'))('are one: %s', (_, stage) => {
    expect(stacksOf(stage)).toStrictEqual([
      { id: `gateway-${stage.settings.name}`, environment: anywhere, after: [], messages: 0 },
    ])
  })

  it.each(Object.entries(OPTIONAL_STAGES).filter(([, { front }]) => front !== 'none'))(
    'are two, the front after the gateway and where CloudFront is configured: %s',
    (_, stage) => {
      const name = `gateway-${stage.settings.name}`

      expect(stacksOf(stage)).toStrictEqual([
        { id: name, environment: anywhere, after: [], messages: 0 },
        { id: `${name}-front`, environment: 'aws://unknown-account/us-east-1', after: [name], messages: 0 },
      ])
    },
  )
})
