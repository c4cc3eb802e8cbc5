import { expect, it } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { judgementOn, type Verdict } from '../rehearsal/judgement.ts'

const verdictOn = (name: string, denied: string | null = null): Verdict => ({
  principal: `arn:aws:sts::000000000001:assumed-role/gateway-dev-Role/gateway-dev-${name}`,
  action: 'dynamodb:GetItem',
  resource: 'arn:aws:dynamodb:ap-southeast-3:000000000001:table/gateway-dev',
  kinds: ['PAYMENT'],
  denied,
})

it('the judgement on a rehearsal counts the calls of functions, and names what was refused or never heard', () => {
  // Its role lets api-not-found ask nothing.
  const heard = MANIFEST.map(({ name }) => name).filter(
    (name) => !['check-due-deliveries', 'api-not-found'].includes(name),
  )

  const { calls, denied, silent } = judgementOn([
    ...heard.map((name) => verdictOn(name)),
    verdictOn('get-payment', 'No matching Allow statement'),
    { ...verdictOn('x'), principal: 'arn:aws:iam::000000000001:root' },
  ])

  expect([calls.get('get-payment'), calls.size]).toStrictEqual([2, heard.length])
  expect(denied).toStrictEqual([
    'gateway-dev-get-payment dynamodb:GetItem arn:aws:dynamodb:ap-southeast-3:000000000001:table/gateway-dev of PAYMENT: No matching Allow statement',
  ])
  expect(silent).toStrictEqual(['check-due-deliveries'])
})
