type Stream = Pick<NodeJS.WriteStream, 'write'>
type Terminal = Pick<NodeJS.WriteStream, 'write' | 'columns'>

const CLEARED = '\r\u001B[K'
/** Of a terminal that does not say its own. */
const COLUMNS = 80

/** Keeps a line below everything that is written to the terminal, and rewrites it in place. */
export function startLastLine(terminal: Terminal, others: readonly Stream[]) {
  let line = ''
  let isShown = false
  const restored: (() => void)[] = []
  const write = terminal.write.bind(terminal)

  const hide = () => {
    if (isShown) write(CLEARED)
    isShown = false
  }
  const draw = () => {
    hide()
    isShown = line !== ''
    // A longer line would wrap, and only its last part could be cleared.
    write(line.slice(0, (terminal.columns || COLUMNS) - 1))
  }
  for (const stream of [terminal, ...others]) {
    const original = stream.write
    stream.write = ((...written: Parameters<Stream['write']>) => {
      hide()
      const isDone = original.apply(stream, written)
      if (String(written[0]).endsWith('\n')) draw()
      return isDone
    }) as Stream['write']
    restored.push(() => {
      stream.write = original
    })
  }
  return {
    show: (next: string) => {
      line = next
      draw()
    },
    end: () => {
      hide()
      for (const restore of restored) restore()
    },
  }
}
