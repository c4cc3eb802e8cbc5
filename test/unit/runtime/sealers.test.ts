import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { DecryptCommand, DisabledException, EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, describe, expect, it } from 'vitest'
import { localAws } from '../../../infra/local/emulators/local-aws.ts'
import { localSealer, localSealKey } from '../../../infra/local/emulators/local-sealer.ts'
import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { kmsSealer } from '../../../shared/runtime/aws/kept-secrets.ts'
import type { Sealer } from '../../../shared/secrets.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const SECRET = 'whsec_🔑 of an endpoint'
const OWNER = { clientId: 'client-1', endpointId: 'endpoint-1' }
const ARN = 'arn:aws:kms:ap-southeast-3:111122223333:key/k'

function refused(__type: string) {
  return jsonReply(400, { __type, message: __type })
}

/** KMS over HTTP, as far as functions use it: under a key and a context. */
const encrypted = new Map<string, Readonly<Record<'plaintext' | 'key' | 'context', unknown>>>()
const server = await startLocalHttpServer({
  port: 0,
  answer: ({ headers, body }) => {
    const {
      KeyId: key,
      EncryptionContext: context,
      ...input
    } = Object(JSON.parse(body.toString('utf8')))
    const target = String(headers['x-amz-target'])
    if (target === 'TrentService.Encrypt') {
      const blob = Buffer.from(`encrypted ${encrypted.size}`).toString('base64')
      encrypted.set(blob, { plaintext: input['Plaintext'], key, context })
      return jsonReply(200, { KeyId: key, CiphertextBlob: blob })
    }
    if (target !== 'TrentService.Decrypt') return refused('UnknownOperationException')
    const { length } = Buffer.from(String(input['CiphertextBlob']), 'base64')
    if (length < 1 || length > 6_144) return refused('ValidationException')
    const found = encrypted.get(String(input['CiphertextBlob']))
    if (found === undefined || !isDeepStrictEqual(found.context, context))
      return refused('InvalidCiphertextException')
    if (found.key !== key) return refused('IncorrectKeyException')
    return jsonReply(200, { KeyId: key, Plaintext: found.plaintext })
  },
})
afterAll(() => server.close())
const client = new KMSClient(localAws(server.url))

type Options = { readonly stage?: string; readonly key?: 'one' | 'another' }
const KEYS = { one: localSealKey(), another: localSealKey() }
const SEALERS: Readonly<Record<string, (options: Options) => Sealer>> = {
  local: ({ stage = 'prod', key = 'one' }) => localSealer({ stage, key: KEYS[key] }),
  KMS: ({ stage = 'prod', key = 'one' }) =>
    kmsSealer({ client, arn: `${ARN}-${key}`, stage }, () => performance.now()),
}

describe.each(Object.entries(SEALERS))('the sealer: %s', (_, sealer) => {
  it('opens its own sealed text for the owner; the text is base64, and different each time', async () => {
    const sealed = await sealer({}).seal(SECRET, OWNER)

    expect(sealed).not.toBe(await sealer({}).seal(SECRET, OWNER))
    expect(sealed).toMatch(/^[A-Za-z0-9+/]+=*$/)
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('whsec_')
    expect(await sealer({}).unseal(sealed, OWNER)).toBe(SECRET)
  })

  it.each<[string, Options, Partial<typeof OWNER>]>([
    ['another client', {}, { clientId: 'client-2' }],
    ['another endpoint', {}, { endpointId: 'endpoint-2' }],
    ['another stage', { stage: 'dev' }, {}],
    ['another key', { key: 'another' }, {}],
  ])('does not open for %s', async (_case, options, owner) => {
    const sealed = await sealer({}).seal(SECRET, OWNER)

    expect(await sealer(options).unseal(sealed, { ...OWNER, ...owner })).toBeUndefined()
  })

  it.each([0, 3, 80, 6_145])('does not open unsealed text of %i bytes', async (length) => {
    const text = Buffer.alloc(length).toString('base64')

    expect(await sealer({}).unseal(text, OWNER)).toBeUndefined()
  })
})

describe('the sealer of KMS', () => {
  const mock = () => {
    const kms = mockClient(KMSClient)
    let nowMs = 0
    const sealer = kmsSealer({ client: new KMSClient({}), arn: ARN, stage: 'prod' }, () => nowMs)
    return { kms, sealer, pass: (ms: number) => (nowMs += ms) }
  }
  const DECRYPTED = { Plaintext: Buffer.from(SECRET) }

  it('names the stage’s key, and stage, client and endpoint as context', async () => {
    const { kms, sealer } = mock()
    kms.on(EncryptCommand).resolves({ CiphertextBlob: Buffer.from('sealed') })
    kms.on(DecryptCommand).resolves(DECRYPTED)

    await sealer.unseal(await sealer.seal(SECRET, OWNER), OWNER)

    const asked = {
      KeyId: ARN,
      EncryptionContext: { stage: 'prod', client: 'client-1', endpoint: 'endpoint-1' },
    }
    expect(kms.calls().map(({ args: [{ input }] }) => input)).toStrictEqual([
      { ...asked, Plaintext: Buffer.from(SECRET) },
      { ...asked, CiphertextBlob: Buffer.from('sealed') },
    ])
  })

  it('asks about the longest text that KMS takes', async () => {
    const { kms, sealer } = mock()
    kms.on(DecryptCommand).resolves(DECRYPTED)

    expect(await sealer.unseal(Buffer.alloc(6_144).toString('base64'), OWNER)).toBe(SECRET)
  })

  it('asks once in five minutes for deliveries of an endpoint, and after its clock went back', async () => {
    const { kms, sealer, pass } = mock()
    kms.on(DecryptCommand).resolves(DECRYPTED)

    await Promise.all([sealer.unseal('c2VhbA==', OWNER), sealer.unseal('c2VhbA==', OWNER)])
    pass(299_999)
    expect(await sealer.unseal('c2VhbA==', OWNER)).toBe(SECRET)
    expect(kms.calls()).toHaveLength(1)
    pass(1)
    await sealer.unseal('c2VhbA==', OWNER)
    await sealer.unseal('c2VhbA==', { ...OWNER, endpointId: 'endpoint-2' })
    pass(-300_000)
    await sealer.unseal('c2VhbA==', OWNER)

    expect(kms.calls()).toHaveLength(4)
  })

  it('throws while KMS does not answer or the key is disabled, keeps no answer without text, and asks again', async () => {
    const { kms, sealer } = mock()
    kms
      .on(DecryptCommand)
      .rejectsOnce(new Error('no answer'))
      .rejectsOnce(new DisabledException({ message: 'disabled', $metadata: {} }))
      .resolvesOnce({})
      .resolves(DECRYPTED)

    await expect(sealer.unseal('c2VhbA==', OWNER)).rejects.toThrow('no answer')
    await expect(sealer.unseal('c2VhbA==', OWNER)).rejects.toThrow('disabled')
    expect(await sealer.unseal('c2VhbA==', OWNER)).toBeUndefined()
    expect(await sealer.unseal('c2VhbA==', OWNER)).toBe(SECRET)
  })

  it('fails in a function without a key', async () => {
    const sealer = kmsSealer({ client: new KMSClient({}), arn: undefined, stage: 'prod' }, () => 0)

    await expect(sealer.seal(SECRET, OWNER)).rejects.toThrow('needs the key ARN')
    await expect(sealer.unseal('c2VhbA==', OWNER)).rejects.toThrow('needs the key ARN')
  })
})

it('the local key is kept in a file for its owner alone, so that secrets open after a restart', async () => {
  const file = join(tempDirectory(), 'seal-key.json')
  const sealed = await localSealer({ stage: 'local', key: localSealKey(file) }).seal(SECRET, OWNER)

  const restarted = localSealer({ stage: 'local', key: localSealKey(file) })

  expect(await restarted.unseal(sealed, OWNER)).toBe(SECRET)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(Buffer.from(JSON.parse(readFileSync(file, 'utf8')).key, 'base64')).toHaveLength(32)
})
