import { describe, expect, it } from 'vitest'
import { authenticate } from '../../shared/client/authenticate.ts'
import { issueKey, registerClient } from '../support/client-builders.ts'
import { recordTable } from '../support/intercept-table.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

/** A second environment on the same table: it shares no cache with the first. */
const anotherEnvironment = (deps: TestDeps): TestDeps => ({ ...deps, table: { ...deps.table } })

describe('the rate limit of a client (design section 5)', () => {
  it('takes as many requests in a second as the limit says, refuses the next, and takes more in the next second', async () => {
    const deps = testDeps()
    const client = await registerClient(deps, { rateLimitPerSecond: 2 })
    const { header } = await issueKey(deps, client.clientId)
    await authenticate(deps, header)
    await authenticate(deps, header)

    await expect(authenticate(deps, header)).rejects.toMatchObject({ code: 'rate_limit', retryAfterSeconds: 1 })
    deps.clock.advance(1)

    expect(await authenticate(deps, header)).toStrictEqual(client)
  })

  it('lets exactly the limit through when many requests come at once to several environments', async () => {
    const deps = testDeps()
    const client = await registerClient(deps, { rateLimitPerSecond: 5 })
    const { header } = await issueKey(deps, client.clientId)
    const environments = [deps, anotherEnvironment(deps)]

    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) => authenticate(environments[at % 2] ?? deps, header)),
    )

    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  })

  it('writes nothing for a client without a limit, and a counter with a time to live for one with', async () => {
    const deps = testDeps()
    const [free, limited] = [await registerClient(deps), await registerClient(deps, { rateLimitPerSecond: 9 })]
    const [freeKey, limitedKey] = [await issueKey(deps, free.clientId), await issueKey(deps, limited.clientId)]
    const watched = recordTable(deps)

    await authenticate(watched.deps, freeKey.header)
    await authenticate(watched.deps, limitedKey.header)

    const writes = watched.calls.flatMap((call) => ('steps' in call ? call.steps : []))
    const second = Math.floor(Date.parse(deps.now()) / 1_000)
    expect(writes.map(({ key }) => key)).toStrictEqual([{ pk: `RATE#${limited.clientId}#${second}`, sk: 'RATE' }])
    expect(writes).toMatchObject([{ kind: 'update', changes: { set: { ttl: second + 3_600 } } }])
  })
})
