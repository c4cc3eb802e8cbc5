import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import * as v from 'valibot'
import { countOf } from '../activity/activity-line.ts'
import { Fold } from './fold.tsx'
import { doCall, invoke, operate, useRead } from './gateway.ts'
import { NoticeContext, WithNotices } from './notice.tsx'
import { readPages } from './read-pages.ts'
import { about, actFor, store, useSession } from './session.ts'
import { ClientSchema, ClientsSchema, hasNext, PER_PAGE } from './shapes.ts'

const IssuedKey = v.object({ api_key: v.string() })
/** A day on the local clock passes in a moment. */
const KEY_SECONDS = 10 * 365 * 86_400
const DEMO_NAME = 'Demo merchant'

const keys = new Map<string, string>()
const names = store<ReadonlyMap<string, string>>(new Map())

/** Issues a key for the chosen merchant. */
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

type Client = v.InferOutput<typeof ClientSchema>

type MerchantSearchProps = { readonly demo: Client; readonly onChoose: (client: Client) => void }

const MOST_PAGES = 50
const MOST_SHOWN = 40
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function MerchantSearch({ demo, onChoose }: MerchantSearchProps) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => field.current?.focus(), [])
  const { clients, note } = useMerchants()
  const text = typed.trim().toLowerCase()
  const named = useNamed(text)
  const others = [...(named ? [named] : []), ...clients].filter(
    ({ client_id: id }, place, all) =>
      id !== demo.client_id && all.findIndex((one) => one.client_id === id) === place,
  )
  const found = others.filter((client) => isMatch(client, text))
  // A text that the demo merchant does not match must never choose it.
  const options = [...(isMatch(demo, text) ? [demo] : []), ...found.slice(0, MOST_SHOWN)]
  const active = Math.min(at, options.length - 1)
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((active + step + options.length) % (options.length || 1))
    else if (event.key !== 'Enter') return
    else if (options[active]) onChoose(options[active])
    event.preventDefault()
  }
  return (
    <div class="search">
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label="Find a merchant by name or id"
        placeholder="Part of a name or id"
        aria-expanded="true"
        aria-controls="merchants"
        aria-autocomplete="list"
        aria-activedescendant={`merchant-${active}`}
        autocomplete="off"
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul ref={list} id="merchants" role="listbox" aria-label="Merchants" tabIndex={-1}>
        {options.map((client, place) => (
          <li
            key={client.client_id}
            id={`merchant-${place}`}
            role="option"
            aria-selected={place === active}
            onClick={() => onChoose(client)}
          >
            {client.name} <code>{client.client_id}</code>
          </li>
        ))}
      </ul>
      <p class="note" role="status">
        {found.length > MOST_SHOWN && `${MOST_SHOWN} of ${found.length} are shown: type more. `}
        {options.length === 0 && 'No merchant was found. '}
        {note}
      </p>
    </div>
  )
}

function isMatch({ client_id: id, name }: Client, text: string) {
  return name.toLowerCase().includes(text) || id.includes(text)
}

/** The newest merchants, read once for each opening of the list. */
function useMerchants() {
  const [clients, setClients] = useState<readonly Client[]>([])
  const [note, setNote] = useState('Reading the merchants…')
  useEffect(() => {
    const state = { hasEnded: false }
    void (async () => {
      let read: readonly Client[] = []
      let isWhole = false
      for await (const loaded of merchantPages()) {
        if (state.hasEnded) return
        if (!('value' in loaded)) return setNote(`The list is not complete: ${loaded.error}`)
        read = [...read, ...loaded.value.data]
        isWhole = !hasNext(loaded.value)
        setClients(read)
      }
      return setNote(
        isWhole
          ? `${countOf(read.length, 'merchant')} in all.`
          : `These are the newest ${read.length} merchants. Find an older one by its whole id.`,
      )
    })()
    return () => {
      state.hasEnded = true
    }
  }, [])
  return { clients, note }
}

function merchantPages() {
  return readPages({
    schema: ClientsSchema,
    most: MOST_PAGES,
    callOf: (page) => invoke('list-clients', { page, per_page: PER_PAGE }),
    hasNext,
  })
}

/** The merchant of a whole id, however old it is. */
function useNamed(id: string) {
  const call = UUID.test(id) ? invoke('get-client', { client_id: id }) : undefined
  return useRead(ClientSchema, call).value
}
