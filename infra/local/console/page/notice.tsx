import { type ComponentChildren, createContext } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Notice = { readonly text: string; readonly ok: boolean }

/** Shows an action's result in the part of the page where the user took the action. */
export const NoticeContext = createContext<(notice: Notice | undefined) => void>(() => undefined)

const SHOWN_MS = 6_000

/**
 * A part of the page with its own notices. Screen readers read them. A success disappears; a
 * refusal stays.
 */
export function WithNotices({ children }: { readonly children: ComponentChildren }) {
  const [notice, showNotice] = useState<Notice>()
  useEffect(() => {
    if (!notice?.ok) return undefined
    const timer = setTimeout(() => showNotice(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [notice])
  return (
    <NoticeContext.Provider value={showNotice}>
      {children}
      <div role="status" class={`notice ${notice ? (notice.ok ? 'good' : 'bad') : ''}`}>
        {notice && (
          <>
            <p>{notice.text}</p>
            <button
              type="button"
              class="copy"
              aria-label="Close the notice"
              onClick={() => showNotice(undefined)}
            >
              close
            </button>
          </>
        )}
      </div>
    </NoticeContext.Provider>
  )
}
