import { isDeepStrictEqual } from 'node:util'
import { KMSClient } from '@aws-sdk/client-kms'
import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { kmsSealer } from '../../../shared/runtime/aws/kept-secrets.ts'
import type { Sealer } from '../../../shared/secrets.ts'

type Encrypted = { readonly plaintext: unknown; readonly key: unknown; readonly context: unknown }

/** KMS as far as functions use it, over HTTP: encrypt and decrypt, each under a key and a context. */
export const startKmsEmulator = async () => {
  const encrypted = new Map<string, Encrypted>()
  const server = await startLocalHttpServer({
    port: 0,
    answer: ({ headers, body }) => {
      const { KeyId: key, EncryptionContext: context, ...input } = Object(JSON.parse(body.toString('utf8')))
      const target = String(headers['x-amz-target'])
      if (target === 'TrentService.Encrypt') {
        const blob = Buffer.from(`encrypted ${encrypted.size}`).toString('base64')
        encrypted.set(blob, { plaintext: input['Plaintext'], key, context })
        return jsonReply(200, { KeyId: key, CiphertextBlob: blob })
      }
      if (target !== 'TrentService.Decrypt') return jsonReply(400, { __type: 'UnknownOperationException' })
      const found = encrypted.get(String(input['CiphertextBlob']))
      if (found === undefined || !isDeepStrictEqual(found.context, context)) {
        return jsonReply(400, { __type: 'InvalidCiphertextException' })
      }
      if (found.key !== key) return jsonReply(400, { __type: 'IncorrectKeyException', message: 'another key' })
      return jsonReply(200, { KeyId: key, Plaintext: found.plaintext })
    },
  })
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const client = new KMSClient({ endpoint: server.url, region: 'ap-southeast-3', credentials })
  const sealer = (stage: string, arn: string): Sealer => kmsSealer({ client, arn, stage }, () => performance.now())
  return { url: server.url, sealer, close: () => server.close() }
}
