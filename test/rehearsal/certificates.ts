import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.ts'

export type Certificates = {
  /** Of an authority that nobody but this rehearsal believes, and that ends with it. */
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

const DAYS = '60'

/** One certificate for all names of the rehearsal's world, by an authority made for it. Needs openssl. */
export const makeCertificates = async (directory: string, names: readonly string[]): Promise<Certificates> => {
  const at = (file: string) => join(directory, file)
  const openssl = async (...args: readonly string[]) => {
    const { code, errors } = await runTool('openssl', args, { cwd: directory })
    if (code !== 0) throw new Error(`openssl ${args[0]}: ${errors}`)
  }
  const newKey = ['-newkey', 'rsa:2048', '-nodes']
  const authority = ['-subj', '/CN=rehearsal authority', '-addext', 'keyUsage=critical,keyCertSign']
  await openssl('req', '-x509', ...newKey, '-days', DAYS, ...authority, '-keyout', 'ca.key', '-out', 'ca.pem')
  await openssl('req', ...newKey, '-subj', '/CN=rehearsal', '-keyout', 'world.key', '-out', 'world.csr')
  writeFileSync(at('world.ext'), `basicConstraints=CA:FALSE\nsubjectAltName=${names.join(',')}\n`)
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', DAYS, '-extfile', 'world.ext']
  await openssl('x509', '-req', '-in', 'world.csr', ...signed, '-out', 'world.pem')
  return { authority: at('ca.pem'), certificate: at('world.pem'), key: at('world.key') }
}
