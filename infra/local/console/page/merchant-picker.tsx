import { useContext } from 'preact/hooks'
import * as v from 'valibot'
import { operate } from './calls.ts'
import { Fold } from './fold.tsx'
import { doCall } from './gateway.ts'
import { MerchantSearch } from './merchant-search.tsx'
import { NoticeContext, WithNotices } from './notice.tsx'
import { about, actFor, store, useSession } from './session.ts'

const IssuedKey = v.object({ api_key: v.string() })
/** A day on the local clock passes in a moment. */
const KEY_SECONDS = 10 * 365 * 86_400
const DEMO_NAME = 'Demo merchant'

/** The key that this page has issued for each merchant. */
const keys = new Map<string, string>()
/** The name of each merchant that this page has chosen. */
const names = store<ReadonlyMap<string, string>>(new Map())

/**
 * Selects any merchant by a search. Issues a key for this merchant, which expires after a day.
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
  const id = merchant.client_id
  const chosenNames = names.use()
  const name = id === demo ? DEMO_NAME : (chosenNames.get(id) ?? id)

  const choose = async (client: { readonly client_id: string; readonly name: string }) => {
    let key = client.client_id === demo ? demoKey : keys.get(client.client_id)
    if (key === undefined) {
      const { ok, body, message } = await doCall(
        operate('issue-api-key', { client_id: client.client_id, expires_in_seconds: KEY_SECONDS }),
      )
      if (!ok) return showNotice({ text: `No API key was issued: ${message}`, ok })
      key = v.parse(IssuedKey, body).api_key
      keys.set(client.client_id, key)
    }
    names.set(new Map([...names.get(), [client.client_id, client.name]]))
    return actFor({ client_id: client.client_id, api_key: key })
  }
  return (
    <Fold kind="picker" name={`Merchant: ${name}`} summary={<span class="cut">{name}</span>}>
      {(close, isOpen) =>
        isOpen && (
          <MerchantSearch
            demo={{ client_id: demo, name: DEMO_NAME }}
            onChoose={(client) => {
              close()
              void choose(client)
            }}
          />
        )
      }
    </Fold>
  )
}
