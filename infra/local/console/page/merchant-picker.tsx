import { useContext } from 'preact/hooks'
import * as v from 'valibot'
import { invoke, operate } from './calls.ts'
import { doCall, useRead } from './gateway.ts'
import { NoticeContext, WithNotices } from './notice.tsx'
import { Select } from './parts.tsx'
import { about, actFor, useSession } from './session.ts'
import { ClientsSchema } from './shapes.ts'

const IssuedKey = v.object({ api_key: v.string() })
const DAY_SECONDS = 86_400
const SHORT_ID = 8

/** The key that this page has issued for each merchant. */
const keys = new Map<string, string>()

/**
 * Selects one of the newest 100 merchants. Issues a key for this merchant, which expires after a
 * day.
 */
export function MerchantPicker() {
  return (
    <div class="merchant">
      <WithNotices>
        <Picker />
      </WithNotices>
    </div>
  )
}

function Picker() {
  const showNotice = useContext(NoticeContext)
  const { merchant } = useSession()
  const { client_id: demo, api_key: demoKey } = about().client
  const { value: clients } = useRead(ClientsSchema, invoke('list-clients', { per_page: 100 }))
  const otherClients = clients?.data.filter(({ client_id: id }) => id !== demo) ?? []

  const choose = async (id: string) => {
    let key = id === demo ? demoKey : keys.get(id)
    if (key === undefined) {
      const { ok, body, message } = await doCall(
        operate('issue-api-key', { client_id: id, expires_in_seconds: DAY_SECONDS }),
      )
      if (!ok) return showNotice({ text: `No API key was issued: ${message}`, ok })
      key = v.parse(IssuedKey, body).api_key
      keys.set(id, key)
    }
    return actFor({ client_id: id, api_key: key })
  }
  return (
    <Select
      aria-label="Merchant"
      value={merchant.client_id}
      options={[
        [demo, 'Demo merchant'],
        ...otherClients.map(
          ({ client_id: id, name }) => [id, `${name} · ${id.slice(0, SHORT_ID)}`] as const,
        ),
      ]}
      onChoose={(id) => void choose(id)}
    />
  )
}
