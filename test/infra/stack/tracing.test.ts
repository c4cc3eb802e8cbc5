import { describe, expect, it } from 'vitest'
import { synthesised } from '../../support/stack-template.ts'

describe('X-Ray', () => {
  it('stays off, since it costs every start more than it tells', () => {
    const traced = synthesised('prod')
      .ofType('AWS::Lambda::Function')
      .filter(({ properties }) => JSON.stringify(properties['TracingConfig'] ?? '').includes('Active'))

    expect(traced).toStrictEqual([])
  })
})
