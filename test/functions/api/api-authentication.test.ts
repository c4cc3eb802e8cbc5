import { describe, expect, it } from 'vitest'
import { issueApiKey } from '../../../shared/client/api-key-store.ts'
import { API, type ApiRequest, anApiClient, call } from '../../support/api-event.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

type Name = keyof typeof API
const NAMES = Object.keys(API) as Name[]

/** Headers that prove no client, each made for a client whose key works; more of them in `authenticate.test.ts`. */
const BAD_HEADERS: Readonly<Record<string, (deps: TestDeps) => Promise<string | undefined>>> = {
  'no header': async () => undefined,
  'an unknown key': async (deps) => (await anApiClient(deps)).authorization.replace(/.{43}$/, 'A'.repeat(43)),
}

/** A request with everything else wrong too, so that an answer about any of it would show. */
const hopeless: ApiRequest = {
  id: 'no-id',
  query: { page: 'x', per_page: 'y', status: 'z', currency: 'USD' },
  headers: { 'Idempotency-Key': 'k'.repeat(1_000) },
  body: '{"amount":',
}

describe('authentication of every endpoint (spec 5)', () => {
  it.each(NAMES.flatMap((name) => Object.keys(BAD_HEADERS).map((what) => [name, what] as const)))(
    '%s answers 401 to %s before it looks at anything else',
    async (name, what) => {
      const deps = testDeps()
      const authorization = await BAD_HEADERS[what]?.(deps)
      const watched = recordTable(deps)

      const answer = await call(watched.deps, API[name], {
        ...hopeless,
        ...(authorization !== undefined && { caller: { authorization } }),
      })

      expect(answer.status).toBe(401)
      expect(answer.body).toStrictEqual({ message: 'invalid credentials', code: 'auth' })
      // At most the one read of key and client.
      expect(watched.calls.map((made) => made.name)).toStrictEqual(watched.calls.length === 0 ? [] : ['batchGet'])
      expect(deps.provider.calls).toStrictEqual([])
    },
  )

  it.each(['Bearer', 'bearer', 'BEARER'])('takes the scheme as %s', async (scheme) => {
    const deps = testDeps()
    const { authorization } = await anApiClient(deps)

    const answer = await call(deps, API.getBalance, {
      caller: { authorization: authorization.replace('Bearer', scheme) },
    })

    expect(answer.status).toBe(200)
  })
})

it('the rate limit (spec 7; design section 5) counts all endpoints of a client together, and no other client', async () => {
  const deps = testDeps()
  const limited = await anApiClient(deps, { rateLimitPerSecond: 2 })
  const other = await anApiClient(deps, { rateLimitPerSecond: 2 })

  const statuses = []
  for (const caller of [limited, limited, limited, other]) {
    statuses.push((await call(deps, statuses.length === 1 ? API.listPayments : API.getBalance, { caller })).status)
  }
  deps.clock.advance(1)
  statuses.push((await call(deps, API.getBalance, { caller: limited })).status)

  expect(statuses).toStrictEqual([200, 200, 429, 200, 200])
})

describe('a key that may only read (design section 8)', () => {
  const readOnly = async (deps: TestDeps) => {
    const { clientId } = await anApiClient(deps)
    const { text, key } = await issueApiKey(deps, {
      clientId,
      operator: 'ayu',
      permissions: 'read_only',
      expiresInSeconds: null,
    })
    return { caller: { authorization: `Bearer ${text}` }, key }
  }
  const isPost = (name: Name) => API[name].route.startsWith('POST ')

  it.each(NAMES.filter(isPost))(
    'gets 403 from %s, before anything is written or the body is looked at',
    async (name) => {
      const deps = testDeps()
      const { caller } = await readOnly(deps)
      const watched = recordTable(deps)

      const answer = await call(watched.deps, API[name], { ...hopeless, caller })

      expect(answer.status).toBe(403)
      expect(answer.body).toStrictEqual({ message: 'this API key may only read', code: 'forbidden' })
      expect(watched.calls.map((made) => made.name)).toStrictEqual(['batchGet'])
      expect(deps.provider.calls).toStrictEqual([])
    },
  )

  it.each(NAMES.filter((name) => !isPost(name)))('reads by %s as any other', async (name) => {
    const deps = testDeps()
    const { caller } = await readOnly(deps)

    expect((await call(deps, API[name], { caller })).status).not.toBe(403)
  })
})
