import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'

/** Secrets Manager as far as functions use it, over HTTP. */
export const startSecretsEmulator = async (values: Map<string, string>) => {
  const absent = jsonReply(400, { __type: 'ResourceNotFoundException', message: 'there is no such secret' })
  const server = await startLocalHttpServer({
    port: 0,
    answer: ({ headers, body }) => {
      const input = Object(JSON.parse(body.toString('utf8')))
      const name = String(input['SecretId'])
      const value = values.get(name)
      switch (String(headers['x-amz-target'])) {
        case 'secretsmanager.GetSecretValue':
          return value === undefined ? absent : jsonReply(200, { Name: name, SecretString: value })
        default:
          return jsonReply(400, { __type: 'UnknownOperationException' })
      }
    },
  })
  return { url: server.url, close: () => server.close() }
}
