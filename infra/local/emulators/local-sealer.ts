import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { type Sealer, sealContext } from '../../../shared/secrets.ts'
import { readJsonFile, writeJsonFile } from '../process/json-file.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

type Key = { readonly stage: string; readonly key: Buffer }

const StoredKey = v.object({ key: v.pipe(v.string(), v.base64()) })

/**
 * Emulates KMS with one key: nonce, tag and ciphertext in base64, the owner as authenticated data.
 */
export function localSealer({ stage, key }: Key): Sealer {
  return {
    seal: async (secret, owner) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(
        Buffer.from(JSON.stringify(sealContext(stage, owner))),
      )
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64')
    },
    unseal: async (sealed, owner) => {
      const sealedBytes = Buffer.from(sealed, 'base64')
      const [nonce, tag, text] = [
        sealedBytes.subarray(0, NONCE_BYTES),
        sealedBytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES),
        sealedBytes.subarray(NONCE_BYTES + TAG_BYTES),
      ]
      if (tag.length < TAG_BYTES) return undefined
      const decipher = createDecipheriv(CIPHER, key, nonce)
      decipher.setAAD(Buffer.from(JSON.stringify(sealContext(stage, owner)))).setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

/**
 * Created at the first start. Only the file's owner may read it; without a file it is in memory.
 */
export function localSealKey(file?: string) {
  const storedKey = file === undefined ? undefined : readJsonFile(file, StoredKey)
  if (storedKey) return Buffer.from(storedKey.key, 'base64')
  const key = randomBytes(KEY_BYTES)
  if (file !== undefined) writeJsonFile(file, { key: key.toString('base64') })
  return key
}
