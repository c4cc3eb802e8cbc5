import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type ACMClient,
  ImportCertificateCommand,
  ListTagsForCertificateCommand,
  paginateListCertificates,
} from '@aws-sdk/client-acm'
import { type DeployedStage, PLACEHOLDER_CERTIFICATE } from '../../stack/stage.ts'
import { PLACEHOLDER_SUBJECT } from '../check/check-settings.ts'
import { type Finding, ok } from '../check/finding.ts'

/** By this tag a later call finds a certificate whose id never reached the stage's file. */
const TAG = 'payment-gateway-origin'

/**
 * Makes the certificate that CloudFront shows to the origin, and the authority that the origin
 * trusts; imports the first into ACM, and writes its id and the authority into the project. Private
 * keys exist only in ACM, and in a directory that is deleted at the end. After a crash the next
 * call makes both again and replaces the first import.
 */
export async function makeOriginCertificate(
  acm: ACMClient,
  { settings: { name }, frontSettings: { originCertificate } }: DeployedStage,
  root: string,
): Promise<Finding | readonly Finding[]> {
  const what = 'origin certificate'
  if (originCertificate === undefined) return []
  const file = `infra/stages/${name}.json`
  if (originCertificate.id !== PLACEHOLDER_CERTIFICATE)
    return ok(what, `is there: ${file} names it`)
  const { authority, certificate, key } = makeKeys(name)
  const CertificateArn = await earlierImport(acm, name)
  const imported = await acm.send(
    new ImportCertificateCommand({
      Certificate: certificate,
      PrivateKey: key,
      CertificateChain: authority,
      ...(CertificateArn === undefined
        ? { Tags: [{ Key: TAG, Value: name }] }
        : { CertificateArn }),
    }),
  )
  const id = imported.CertificateArn?.split('/').at(-1) ?? PLACEHOLDER_CERTIFICATE
  trustAuthority(resolve(root, originCertificate.authority), authority)
  const settings = readFileSync(join(root, file), 'utf8')
  writeFileSync(join(root, file), settings.replace(PLACEHOLDER_CERTIFICATE, id))
  return ok(what, `made: commit ${file} and ${originCertificate.authority}`)
}

/** Not every openssl adds these. The identifiers tell apart two authorities of one name. */
const EXTENSIONS = {
  authority:
    'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n' +
    'subjectKeyIdentifier=hash',
  front:
    'basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\n' +
    'extendedKeyUsage=clientAuth\nauthorityKeyIdentifier=keyid',
}

/** ACM issues no client certificates: docs/operations.md, "The front's certificate". */
function makeKeys(stage: string) {
  // Only the directory's owner can read it.
  const cwd = mkdtempSync(join(tmpdir(), 'gateway-origin-'))
  const openssl = (words: string) =>
    execFileSync('openssl', words.split(' '), { cwd, stdio: 'ignore' })
  const make = (name: keyof typeof EXTENSIONS, signer: string) => {
    // ACM lists no certificate without a domain.
    const subject = `/CN=${name}.gateway-${stage}.internal`
    writeFileSync(join(cwd, `${name}.ext`), EXTENSIONS[name])
    openssl(`req -newkey rsa:2048 -nodes -subj ${subject} -keyout ${name}.key -out ${name}.csr`)
    openssl(`x509 -req -in ${name}.csr ${signer} -days 3650 -extfile ${name}.ext -out ${name}.pem`)
    return readFileSync(join(cwd, `${name}.pem`))
  }
  try {
    return {
      authority: make('authority', '-signkey authority.key'),
      certificate: make('front', '-CA authority.pem -CAkey authority.key -CAcreateserial'),
      key: readFileSync(join(cwd, 'front.key')),
    }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

async function earlierImport(client: ACMClient, stage: string) {
  for await (const { CertificateSummaryList: certificates = [] } of paginateListCertificates(
    { client },
    {},
  )) {
    for (const { CertificateArn } of certificates) {
      const { Tags = [] } = await client.send(new ListTagsForCertificateCommand({ CertificateArn }))
      if (Tags.some(({ Key, Value }) => Key === TAG && Value === stage)) return CertificateArn
    }
  }
  return undefined
}

/** Another stage may trust an existing authority, so only the placeholder is replaced. */
function trustAuthority(path: string, authority: Buffer) {
  const existing = readFileSync(path)
  const isPlaceholder = new X509Certificate(existing).subject === PLACEHOLDER_SUBJECT
  writeFileSync(path, isPlaceholder ? authority : Buffer.concat([existing, authority]))
}
