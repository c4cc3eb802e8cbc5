import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const IPV4 = 1
const IPV6 = 28
const HEADER_BYTES = 12

type Leads = (
  name: string,
) => { readonly ipv4?: readonly number[]; readonly ipv6?: Buffer } | undefined

/** Answers on 127.0.0.1:53 with one address at most. A name without an address does not exist. */
export async function startNameServer(leads: Leads): Promise<{ close(): void }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) =>
    socket.send(answerTo(query, leads), port, address),
  )
  socket.bind(53, '127.0.0.1')
  await once(socket, 'listening')
  return { close: () => socket.close() }
}

function answerTo(query: Buffer, leads: Leads) {
  const { name, end } = nameIn(query)
  // After the name in a question: its type and its class.
  const question = query.subarray(HEADER_BYTES, end + 4)
  const found = leads(name)
  const type = query.readUInt16BE(end)
  const address = type === IPV4 ? found?.ipv4 : type === IPV6 ? found?.ipv6 : undefined
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  // An authoritative answer with recursion; 3: there is no such name.
  header.writeUInt16BE(0x8580 | (found ? 0 : 3), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(address ? 1 : 0, 6)
  if (!address) return Buffer.concat([header, question])
  // The name again by a pointer to the question; class IN, for a minute.
  const about = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length])
  return Buffer.concat([header, question, about, Buffer.from(address)])
}

function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}
