import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '../support/run-tool.ts'

/** Files of an authority for one rehearsal, which nothing else trusts, and of one certificate for all names of the world. */
export const certificatesIn = (directory: string) => ({
  authority: join(directory, 'ca.pem'),
  certificate: join(directory, 'world.pem'),
  key: join(directory, 'world.key'),
})
export type Certificates = ReturnType<typeof certificatesIn>

const DAYS = '60'

export const makeCertificates = async (directory: string, names: readonly string[]): Promise<Certificates> => {
  const openssl = async (...args: readonly string[]) => {
    const { code, errors } = await runTool('openssl', args, { cwd: directory })
    if (code !== 0) throw new Error(`openssl ${args[0]}: ${errors}`)
  }
  const newKey = ['-newkey', 'rsa:2048', '-nodes']
  const authority = ['-subj', '/CN=rehearsal authority', '-addext', 'keyUsage=critical,keyCertSign']
  await openssl('req', '-x509', ...newKey, '-days', DAYS, ...authority, '-keyout', 'ca.key', '-out', 'ca.pem')
  await openssl('req', ...newKey, '-subj', '/CN=rehearsal', '-keyout', 'world.key', '-out', 'world.csr')
  writeFileSync(join(directory, 'world.ext'), `basicConstraints=CA:FALSE\nsubjectAltName=${names.join(',')}\n`)
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', DAYS, '-extfile', 'world.ext']
  await openssl('x509', '-req', '-in', 'world.csr', ...signed, '-out', 'world.pem')
  return certificatesIn(directory)
}
