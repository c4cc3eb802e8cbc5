import { describe, expect, it } from 'vitest'
import { providerFailure } from '../../../shared/provider/provider-failure.ts'

describe('providerFailure (spec 7)', () => {
  it.each([
    ['unreachable', 'network', 'the provider did not answer; try again'],
    ['server_error', 'server_error', 'the provider failed; try again'],
    ['rate_limited', 'server_error', 'the provider takes no more calls for now; try again'],
    ['misconfigured', 'server_error', 'the provider failed; try again'],
    ['refused', 'server_error', 'the provider failed; try again'],
  ] as const)('%s is %s: only silence is the network', (reason, code, message) => {
    expect(providerFailure({ reason }, 'try again')).toMatchObject({ code, message })
  })
})
