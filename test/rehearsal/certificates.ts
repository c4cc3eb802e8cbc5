import { join } from 'node:path'
import { runTool } from '../support/run-tool.ts'

/** Only one rehearsal trusts the certificate. */
export function certificatesIn(directory: string) {
  return { certificate: join(directory, 'world.pem'), key: join(directory, 'world.key') }
}
export type Certificates = ReturnType<typeof certificatesIn>

export async function makeCertificates(directory: string, names: readonly string[]) {
  const { certificate, key } = certificatesIn(directory)
  const named = ['-subj', '/CN=rehearsal', '-addext', `subjectAltName=${names.join(',')}`]
  const options = [
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '60',
    ...named,
    '-keyout',
    key,
    '-out',
    certificate,
  ]
  const { code, errors } = await runTool('openssl', ['req', '-x509', ...options])
  if (code !== 0) throw new Error(`openssl: ${errors}`)
  return { certificate, key }
}
