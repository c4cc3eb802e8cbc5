const HEAD_END = '\r\n\r\n'
const LINE_END = '\r\n'
const LAST_CHUNK = '0\r\n\r\n'
const CHUNK_SIZE = /^[0-9a-f]{1,4}$/i
const LENGTH = /^\d{1,4}$/

export type AnswerHead = {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/**
 * Whether these bytes are exactly one answer. Bytes after an answer would be taken for the answer to the next request,
 * so every unclear form (trailers, extensions, lengths of five digits) counts as more.
 */
export const endsExactly = (bytes: Buffer, { statusCode, headers }: AnswerHead): boolean => {
  const head = bytes.indexOf(HEAD_END)
  if (head === -1) return false
  const body = bytes.subarray(head + HEAD_END.length)
  const { 'transfer-encoding': encoding, 'content-length': length } = headers
  if (encoding !== undefined) return encoding === 'chunked' && length === undefined && isOneChunkedBody(body)
  if (statusCode === 204 || statusCode === 304) return body.length === 0
  return typeof length === 'string' && LENGTH.test(length) && body.length === Number(length)
}

const isOneChunkedBody = (body: Buffer): boolean => {
  let rest = body
  while (!rest.subarray(0, 1).equals(Buffer.from('0'))) {
    const line = rest.indexOf(LINE_END)
    const size = rest.toString('latin1', 0, Math.max(line, 0))
    const end = line + LINE_END.length + Number.parseInt(size, 16)
    if (!CHUNK_SIZE.test(size) || rest.toString('latin1', end, end + LINE_END.length) !== LINE_END) return false
    rest = rest.subarray(end + LINE_END.length)
  }
  return rest.toString('latin1') === LAST_CHUNK
}
