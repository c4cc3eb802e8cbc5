import { isDeepStrictEqual } from 'node:util'
import { KMSClient } from '@aws-sdk/client-kms'
import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { kmsSealer } from '../../../shared/runtime/aws/kept-secrets.ts'
import type { Sealer } from '../../../shared/secrets.ts'

type Encrypted = { readonly plaintext: unknown; readonly key: unknown; readonly context: unknown }

const refused = (__type: string) => jsonReply(400, { __type, message: __type })

/** KMS over HTTP, as far as functions use it: under a key and a context. */
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
      if (target !== 'TrentService.Decrypt') return refused('UnknownOperationException')
      const found = encrypted.get(String(input['CiphertextBlob']))
      if (found === undefined || !isDeepStrictEqual(found.context, context))
        return refused('InvalidCiphertextException')
      if (found.key !== key) return refused('IncorrectKeyException')
      return jsonReply(200, { KeyId: key, Plaintext: found.plaintext })
    },
  })
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const client = new KMSClient({ endpoint: server.url, region: 'ap-southeast-3', credentials })
  const sealer = (stage: string, arn: string): Sealer => kmsSealer({ client, arn, stage }, () => performance.now())
  return { sealer, close: () => server.close() }
}
