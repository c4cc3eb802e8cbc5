import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { judgementOn } from '../rehearsal/judgement.ts'
import type { Verdict } from '../rehearsal/verdicts.ts'

const verdictOn = (name: string, denied: string | null = null): Verdict => ({
  principal: `arn:aws:sts::000000000001:assumed-role/gateway-dev-Role/gateway-dev-${name}`,
  action: 'dynamodb:GetItem',
  resource: 'arn:aws:dynamodb:ap-southeast-3:000000000001:table/gateway-dev',
  kinds: ['PAYMENT'],
  denied,
})
const ALL = MANIFEST.map(({ name }) => verdictOn(name))

describe('the judgement on a rehearsal', () => {
  it('counts the calls of each function, and not those of tools', () => {
    const tool = { ...verdictOn('x'), principal: 'arn:aws:iam::000000000001:root' }

    const { calls } = judgementOn([verdictOn('get-payment'), verdictOn('get-payment'), tool])

    expect([...calls]).toStrictEqual([['get-payment', 2]])
  })

  it('names every call that was refused, of functions and of people', () => {
    const { denied } = judgementOn([...ALL, verdictOn('get-payment', 'No matching Allow statement')])

    expect(denied).toStrictEqual([
      'gateway-dev-get-payment dynamodb:GetItem arn:aws:dynamodb:ap-southeast-3:000000000001:table/gateway-dev of PAYMENT: No matching Allow statement',
    ])
  })

  it('names a function that was never heard, unless its role lets it ask nothing', () => {
    const but = (silent: string) => ALL.filter(({ principal }) => !principal.endsWith(`gateway-dev-${silent}`))

    expect(judgementOn(but('check-due-deliveries')).silent).toStrictEqual(['check-due-deliveries'])
    expect(judgementOn(but('api-not-found')).silent).toStrictEqual([])
  })
})
