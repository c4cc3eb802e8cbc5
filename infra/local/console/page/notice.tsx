import { type ComponentChildren, createContext } from 'preact'
import { useRef, useState } from 'preact/hooks'

type Notice = { readonly text: string; readonly ok: boolean }

/** An action's result is shown in the part of the page that has the action. */
export const NoticeContext = createContext<(notice: Notice) => void>(() => undefined)

const SHOWN_MS = 12_000
const MAX_NOTICES = 4

/**
 * A part of the page with its own notices, newest last. Screen readers read them. A success
 * disappears; a refusal stays until it is closed.
 */
export function WithNotices({ children }: { readonly children: ComponentChildren }) {
  const lastNumber = useRef(0)
  const [notices, setNotices] = useState<readonly (Notice & { readonly number: number })[]>([])
  const close = (number: number) =>
    setNotices((shown) => shown.filter((notice) => notice.number !== number))
  const [show] = useState(() => (notice: Notice) => {
    lastNumber.current += 1
    const number = lastNumber.current
    setNotices((shown) => [...shown, { ...notice, number }].slice(-MAX_NOTICES))
    if (notice.ok) setTimeout(() => close(number), SHOWN_MS)
  })
  return (
    <NoticeContext.Provider value={show}>
      {children}
      <div role="status" class="notices">
        {notices.map(({ number, text, ok }) => (
          <div key={number} class={`notice ${ok ? 'good' : 'bad'}`}>
            <p>{text}</p>
            <button
              type="button"
              class="copy"
              aria-label={`Close the notice: ${text}`}
              onClick={() => close(number)}
            >
              close
            </button>
          </div>
        ))}
      </div>
    </NoticeContext.Provider>
  )
}
