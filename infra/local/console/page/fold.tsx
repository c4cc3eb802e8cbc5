import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

type FoldProps = {
  readonly kind: string
  readonly summary: ComponentChildren
  /** What screen readers call the button. */
  readonly name: string
  /** Called with a function that closes the fold. */
  readonly children: (close: () => void, isOpen: boolean) => ComponentChildren
}

/**
 * A part of the header that a button opens. On a wide page, page.css may show the part without its
 * button. Escape, a link in the part, and a press elsewhere close it.
 */
export function Fold({ kind, summary, name, children }: FoldProps) {
  const [isOpen, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  useEffect(() => {
    if (!isOpen) return undefined
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !box.current?.contains(target)) setOpen(false)
    }
    document.addEventListener('pointerdown', closeOutside)
    document.addEventListener('focusin', closeOutside)
    return () => {
      document.removeEventListener('pointerdown', closeOutside)
      document.removeEventListener('focusin', closeOutside)
    }
  }, [isOpen])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    <div
      class={`fold ${kind}`}
      ref={box}
      onKeyDown={({ key }) => {
        if (key === 'Escape' && isOpen) close()
      }}
    >
      <button
        ref={button}
        type="button"
        class="unfold"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={name}
        onClick={() => setOpen(!isOpen)}
      >
        {summary}
      </button>
      <div
        id={id}
        class={isOpen ? 'folded open' : 'folded'}
        onClick={({ target }) => {
          if (target instanceof HTMLAnchorElement) setOpen(false)
        }}
      >
        {children(close, isOpen)}
      </div>
    </div>
  )
}
